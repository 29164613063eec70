import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { startStatementProxy } from './statement-proxy.js';

const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

it('a proxy of statements stops after a commit whose answer arrives in two chunks', async () => {
  const postgres = net.createServer((socket) => {
    socket.setNoDelay();
    socket.on('error', () => socket.destroy());
    // The second part is sent only when the client has the first one, so that they are two chunks.
    socket.on('data', (bytes) => socket.write(bytes.toString() === 'more' ? READY.subarray(2) : READY.subarray(0, 2)));
  });
  postgres.listen(0, '127.0.0.1');
  await once(postgres, 'listening');
  const { port } = postgres.address() as AddressInfo;
  const proxy = await startStatementProxy(`postgres://127.0.0.1:${port}/database`);
  const stopped = new Promise<void>((resolve) => proxy.stopAt({ side: 'after', statement: /insert/ }, resolve));
  const client = net.connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.on('error', () => client.destroy());
  client.write('insert');
  await once(client, 'data');
  client.write('more');
  await expect(stopped).resolves.toBeUndefined();
  await proxy.close();
  await new Promise((resolve) => postgres.close(resolve));
});
