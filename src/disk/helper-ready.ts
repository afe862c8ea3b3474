/** The first line of a helper process, before any answer: it has started. */
export const READY = 'ready';
