import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns two free ports below the range that systems use for outgoing connections (Linux from 32768, others from
 * 49152). Another process could use a port of that range while the broker is down. Even a client that connects to this
 * port could get it: on loopback it can end up connected to itself, and the broker never gets its port back.
 */
export const freePorts = async (): Promise<[number, number]> => {
  const first = await freePort();
  for (;;) {
    const second = await freePort();
    if (second !== first) return [first, second];
  }
};

const LOWEST = 20_000;
const EACH = 3_000;
/**
 * Each worker uses ports of its own, because two workers could otherwise draw the same port before one of them listens.
 */
const worker = Number(process.env['JEST_WORKER_ID'] ?? 1) % 4;

const freePort = async (): Promise<number> => {
  for (;;) {
    const port = LOWEST + worker * EACH + Math.floor(Math.random() * EACH);
    if (await isFree(port)) return port;
  }
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
};
