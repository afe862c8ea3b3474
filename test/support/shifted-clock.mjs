// Preloaded into a process (`node --import`): each SIGUSR2 sets its wall clock otherwise, a year back first, then two
// years forward, and so on. Monotonic time goes on as it does.

const YEAR_MS = 365 * 24 * 3_600_000;
const RealDate = Date;
let offsetMs = 0;

class ShiftedDate extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [ShiftedDate.now()] : args));
  }

  static now() {
    return RealDate.now() + offsetMs;
  }
}

globalThis.Date = ShiftedDate;
process.on('SIGUSR2', () => {
  offsetMs = offsetMs < 0 ? YEAR_MS : -YEAR_MS;
});
