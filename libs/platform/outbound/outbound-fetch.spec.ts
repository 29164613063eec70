import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOutboundFetch, OutboundError, PrivateHosts, type OutboundFailure } from './index.js';

let server: Server;
let port: number;
let requests: string[];

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/json': (response) => response.setHeader('content-type', 'application/json').end('{"ok":true}'),
  '/empty': (response) => response.writeHead(204).end(),
  '/refused': (response) => response.writeHead(403).end('no'),
  '/redirect': (response) => response.writeHead(302, { location: '/json' }).end(),
  '/large': (response) => response.end('x'.repeat(2_000)),
  '/silent': () => undefined,
  '/slow-body': (response) => response.write('x'),
};

beforeAll(async () => {
  requests = [];
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    ANSWERS[request.url ?? '']?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Returns why the request failed; null if it did not. */
const getFailure = async (sent: Promise<Response>): Promise<OutboundFailure | null> => {
  try {
    await sent;
    return null;
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
};

describe('a request to a server that an administrator has named', () => {
  const outboundFetch = createOutboundFetch({ privateHosts: null, timeoutMs: 500, maxBytes: 1_000 });
  const send = (path: string) => outboundFetch(`http://localhost:${port}${path}`);

  it('returns status, headers and body', async () => {
    const response = await send('/json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual({ ok: true });
    expect((await send('/empty')).status).toBe(204);
    expect((await send('/refused')).status).toBe(403);
  });

  it.each([
    ['/redirect', 'redirect'],
    ['/large', 'too-large'],
    ['/silent', 'timeout'],
    ['/slow-body', 'timeout'],
  ])('to %s fails: %s', async (path, failure) => {
    expect(await getFailure(send(path))).toBe(failure);
  });

  it('fails if nothing listens, and if the name does not exist', async () => {
    expect(await getFailure(outboundFetch('http://127.0.0.1:1/'))).toBe('unreachable');
    expect(await getFailure(outboundFetch('http://no-such-host.invalid/'))).toBe('unreachable');
  });

  it('returns the beginning of a body that is too long or does not end, if bodies are cut', async () => {
    const cutting = createOutboundFetch({ privateHosts: null, timeoutMs: 500, maxBytes: 1_000, cutBodies: true });
    const cut = async (path: string): Promise<readonly [number, number]> => {
      const response = await cutting(`http://localhost:${port}${path}`);
      return [response.status, (await response.text()).length];
    };
    expect(await cut('/large')).toEqual([200, 1_000]);
    expect(await cut('/slow-body')).toEqual([200, 1]);
    expect(await cut('/json')).toEqual([200, 11]);
    expect(await cut('/empty')).toEqual([204, 0]);
    expect(await getFailure(cutting(`http://localhost:${port}/silent`))).toBe('timeout');
    expect(await getFailure(cutting(`http://localhost:${port}/redirect`))).toBe('redirect');
  });

  it('returns a redirect, and does not follow it, if redirects are answers', async () => {
    requests = [];
    const returning = createOutboundFetch({ privateHosts: null, returnsRedirects: true });
    const response = await returning(`http://localhost:${port}/redirect`);
    expect([response.status, response.headers.get('location'), requests]).toEqual([302, '/json', ['/redirect']]);
  });

  it('fails if the caller aborts it', async () => {
    const aborted = outboundFetch(`http://localhost:${port}/silent`, { signal: AbortSignal.abort() });
    expect(await getFailure(aborted)).toBe('unreachable');
  });
});

describe('a request to a server that a caller has named', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433'])(
    'does not reach %s',
    async (host) => {
      requests = [];
      const outboundFetch = createOutboundFetch({ privateHosts: new PrivateHosts([]) });
      expect(await getFailure(outboundFetch(`http://${host}:${port}/json`))).toBe('private-address');
      expect(requests).toEqual([]);
    },
  );

  it('reaches private hosts that the setting permits', async () => {
    const byName = createOutboundFetch({ privateHosts: new PrivateHosts(['localhost']) });
    expect((await byName(`http://localhost:${port}/json`)).status).toBe(200);
    const byAddress = createOutboundFetch({ privateHosts: new PrivateHosts(['127.0.0.0/8', '::1']) });
    expect((await byAddress(`http://127.0.0.1:${port}/json`)).status).toBe(200);
  });
});
