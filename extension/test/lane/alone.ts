// Work that only one process of the machine does at a time.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Does `work` with a lock on the path. A lock whose owner has died is free. */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await taken(path);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the lock of the path: an abstract socket, which the system frees when its owner exits. */
async function taken(path: string): Promise<() => void> {
  const address = `\0trellis-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
  for (let waits = 0; ; waits += 1) {
    const release = await listening(address);
    if (release !== undefined) return release;
    if (waits === 0) console.error(`waiting for another process that works on ${path}`);
    await released(address);
  }
}

/**
 * Listens on an address; `undefined` if another process does. The result closes the socket, and disconnects all who
 * wait.
 */
async function listening(address: string): Promise<(() => void) | undefined> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => waiting.add(socket.on('error', () => {})));
  try {
    await once(server.listen(address), 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
  return () => {
    server.close();
    for (const it of waiting) it.destroy();
  };
}

/** Resolves when the owner of an address closes it, or exits. */
async function released(address: string): Promise<void> {
  const socket = createConnection(address).on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
}
