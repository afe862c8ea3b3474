// Opens a hundred connections to $KNOCK_AT and says half a message on each second one. Prints what was received once most of
// them have been ended.
import { connect } from 'node:net';

const COUNT = 100;
const MOST = 80;
const half = `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(10_000)}`;
let received = '';
let ended = 0;

for (let number = 0; number < COUNT; number += 1) {
  const socket = connect(process.env.KNOCK_AT ?? '');
  socket.on('connect', () => {
    if (number % 2 === 0) socket.write(half);
  });
  socket.on('data', (chunk) => {
    received += chunk;
  });
  // Whoever is refused is cut off while it still writes.
  socket.on('error', () => {});
  socket.on('close', () => {
    ended += 1;
    if (ended === MOST) process.stdout.write(received, () => process.exit());
  });
}
