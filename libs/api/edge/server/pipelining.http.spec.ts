import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { serializeRequests } from './pipelining.http.js';

let server: Server;
let connection: RawConnection;
let started: string[];
let open: ServerResponse[];
let onStart: () => void;

/** Resolves when the server's handler has received this number of requests. */
const whenStarted = (count: number): Promise<void> =>
  new Promise((resolve) => {
    onStart = () => {
      if (started.length >= count) resolve();
    };
    onStart();
  });

const connect = (): RawConnection => {
  const { port } = server.address() as AddressInfo;
  return new RawConnection(`http://127.0.0.1:${port}`);
};

/** Returns this number of requests as one text. */
const pipeline = (count: number): string =>
  Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('');

beforeEach(async () => {
  started = [];
  open = [];
  onStart = () => undefined;
  server = createServer((request, response) => {
    started.push(request.url ?? '');
    open.push(response);
    onStart();
  });
  serializeRequests(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  connection = connect();
});

afterEach(async () => {
  connection.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('requests that arrive together on one connection', () => {
  it('are handled one after another, in order', async () => {
    connection.send(pipeline(3));
    for (let n = 0; n < 3; n += 1) {
      await whenStarted(n + 1);
      expect(started).toEqual(['/0', '/1', '/2'].slice(0, n + 1));
      open[n]?.end();
      expect((await connection.answer()).status).toBe(200);
    }
  });

  it('all get a response if 4 wait', async () => {
    connection.send(pipeline(5));
    for (let n = 0; n < 5; n += 1) {
      await whenStarted(n + 1);
      open[n]?.end();
      expect((await connection.answer()).status).toBe(200);
    }
  });

  it('close the connection if 5 wait: only the first request is started, and requests after the sixth are not parsed', async () => {
    let parsed = 0;
    server.on('request', () => (parsed += 1));
    connection.send(pipeline(300));
    await connection.closed;
    expect([started, parsed]).toEqual([['/0'], 6]);
  });

  it('do not delay requests on other connections', async () => {
    connection.send(pipeline(2));
    await whenStarted(1);
    const otherConnection = connect().send('GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await whenStarted(2);
    expect(started).toEqual(['/0', '/other']);
    otherConnection.destroy();
  });

  it('are not started after the connection has ended', async () => {
    connection.send(pipeline(2));
    await whenStarted(1);
    const ended = new Promise((resolve) => open[0]?.once('close', resolve));
    connection.destroy();
    await ended;
    expect(started).toEqual(['/0']);
  });
});
