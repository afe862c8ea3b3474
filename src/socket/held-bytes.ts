/** Someone for whom bytes are held. */
export interface Holder {
  /** It holds the most of all while there is too much: it must let go of all and end. */
  endAsLargest(): void;
}

/**
 * What is held for all peers together, over all sockets: unfinished messages and answers that are not read. A limit for
 * each alone would let a few hundred fill the memory. Over the limit whoever holds the most goes: a peer that sends whole
 * messages and reads holds next to nothing.
 */
export class HeldBytes {
  readonly limit: number;
  #sum = 0;
  readonly #holders = new Map<Holder, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Says how much a holder holds now. */
  set(holder: Holder, bytes: number): void {
    this.#sum += bytes - (this.#holders.get(holder) ?? 0);
    if (bytes === 0) this.#holders.delete(holder);
    else this.#holders.set(holder, bytes);
    while (this.#sum > this.limit) this.#endLargest();
  }

  #endLargest(): void {
    let [largest] = this.#holders;
    if (largest === undefined) return;
    for (const one of this.#holders) if (one[1] > largest[1]) largest = one;
    const [holder, bytes] = largest;
    this.#holders.delete(holder);
    this.#sum -= bytes;
    holder.endAsLargest();
  }
}
