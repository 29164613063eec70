import { once } from 'node:events';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpClient } from './http-client.js';

let server: Server;
let silentServer: Server;
let url: URL;
let silentUrl: URL;
let folder: string;

const listen = async (listener: Server, scheme: string): Promise<URL> => {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return new URL(`${scheme}://127.0.0.1:${(listener.address() as AddressInfo).port}/`);
};

beforeAll(async () => {
  server = createServer((socket) => socket.end());
  silentServer = createServer();
  url = await listen(server, 'https');
  silentUrl = await listen(silentServer, 'http');
  folder = await mkdtemp(join(tmpdir(), 'cadastre-http-'));
  await writeFile(join(folder, 'provider.zip'), 'a zip');
});

afterAll(async () => {
  server.close();
  silentServer.close();
  await rm(folder, { recursive: true });
});

describe('a server that closes connections before the TLS handshake', () => {
  const attempts: string[] = [];
  const http = new HttpClient({
    signal: new AbortController().signal,
    print: (line) => attempts.push(line),
    patience: { retries: 2, minTimeout: 1, maxTimeout: 1 },
  });

  it.each([
    ['a request', () => http.send(url, {})],
    ['an upload', () => http.put(url, { path: join(folder, 'provider.zip'), size: 5, sent: () => undefined })],
  ])('is retried for %s, then reported as unreachable', async (_, send) => {
    attempts.length = 0;
    await expect(http.patiently('the server', send)).rejects.toMatchObject({
      message: expect.stringMatching(/^the server: /),
    });
    expect(attempts).toHaveLength(2);
  });
});

describe('a missing file', () => {
  it('is reported at once, without a retry', async () => {
    const attempts: string[] = [];
    const http = new HttpClient({ signal: new AbortController().signal, print: (line) => attempts.push(line) });
    const file = { path: join(folder, 'missing.zip'), size: 5, sent: () => undefined };
    await expect(http.patiently('the file', () => http.put(silentUrl, file))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(attempts).toEqual([]);
  });
});
