import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { Database } from '#platform/postgres';
import { openSharedSession } from './shared-session.js';

it('rejects if the connection ends before it is open, and throws nothing besides', async () => {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgres://nobody@127.0.0.1:${port}/nothing`;
  const database = new Database({ url, connections: 1, applicationName: 'test' });
  // An error in a listener of the connection reaches nobody, and would end the process.
  const uncaught: unknown[] = [];
  const record = (error: unknown): void => void uncaught.push(error);
  process.prependListener('uncaughtException', record);
  await expect(openSharedSession(database)).rejects.toThrow('Connection terminated unexpectedly');
  process.off('uncaughtException', record);
  expect(uncaught).toEqual([]);
  await database.close();
  server.close();
});
