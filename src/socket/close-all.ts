export interface Connection {
  /** Sends what waits, then ends. */
  close(): void;
  /** Ends at once. */
  destroy(): void;
  whenClosed(): Promise<void>;
}

/** How long a daemon that stops waits for peers to take what waits for them. */
const CLOSE_MS = 1_000;

/** Ends all connections; what does not end by itself within a second is cut. */
export async function closeAll(connections: readonly Connection[]): Promise<void> {
  const cut = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, CLOSE_MS);
  const closed = connections.map((connection) => connection.whenClosed());
  for (const connection of connections) connection.close();
  await Promise.all(closed);
  clearTimeout(cut);
}
