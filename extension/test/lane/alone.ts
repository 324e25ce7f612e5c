// Work that only one process of this machine does at a time.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Does `work` once nobody else does any on the same path. Whoever dies meanwhile is not waited for. */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await taken(path);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Takes the path's lock: an abstract socket, which the system frees when its owner is gone. */
async function taken(path: string): Promise<() => void> {
  const address = `\0trellis-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`;
  for (let waits = 0; ; waits += 1) {
    const release = await listening(address);
    if (release !== undefined) return release;
    if (waits === 0) console.error(`waiting for another process that works on ${path}`);
    await released(address);
  }
}

/** Listens; nothing where somebody else does. What is returned lets go of the address, and of all who wait for that. */
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

/** Resolves when whoever listens lets go, or is gone. */
async function released(address: string): Promise<void> {
  const socket = createConnection(address).on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
}
