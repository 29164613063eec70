import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../sandbox.js';
import { buildSettings, collectResult, missingSandbox, MIB, NODE, openSandbox, type ScriptResult } from '../spec.js';

// What commands in a sandbox reach. Only servers of this test receive requests.

const LIMITS = { memoryBytes: 4096 * MIB };

const startServer = async (requests: string[]): Promise<Server> => {
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host} ${request.url}`);
    request.pipe(response.writeHead(200, { 'x-answer': 'yes' }));
    if (request.method === 'GET') response.end('hello');
  });
  server.on('connection', () => requests.push('connection'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
};

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

it('creates a sandbox, or describes what this machine lacks', () => {
  expect(missingSandbox ?? 'or set CADASTRE_EXECUTOR_SANDBOX=off').toContain('or set CADASTRE_EXECUTOR_SANDBOX=off');
});

const describeSandbox = missingSandbox === null ? describe : undefined;

describeSandbox?.('a command in a sandbox', () => {
  const ofServer: string[] = [];
  const ofNeighbour: string[] = [];
  let server: Server;
  let neighbour: Server;
  let sandbox: Sandbox;

  const run = async (script: string, inSandbox = sandbox): Promise<ScriptResult> =>
    collectResult(
      await inSandbox.start({
        argv: [NODE, '-e', script],
        workingDirectory: '/',
        environment: {},
        mounts: [],
        seconds: 120,
      }),
    );

  /** Sends a request to the proxy, and prints the status line of its response. */
  const request = (head: string, inSandbox = sandbox): Promise<ScriptResult> =>
    run(
      `const socket = require('net').connect(3128, '127.0.0.1', () => socket.write(${JSON.stringify(`${head}\r\n\r\n`)}));
       socket.once('data', (chunk) => { console.log(String(chunk).split('\\r\\n')[0]); socket.destroy(); });`,
      inSandbox,
    );

  const connect = (host: string, port: number): string => `
    const socket = require('net').connect(${port}, '${host}');
    socket.on('connect', () => { console.log('connected'); socket.destroy(); });
    socket.on('error', ({ code }) => console.log(code));`;

  beforeAll(async () => {
    server = await startServer(ofServer);
    neighbour = await startServer(ofNeighbour);
    sandbox = await openSandbox(buildSettings(`http://localhost:${portOf(server)}`, LIMITS));
  });

  beforeEach(() => {
    ofServer.length = 0;
    ofNeighbour.length = 0;
  });

  afterAll(() => {
    server.close();
    neighbour.close();
  });

  it('reaches the Cadastre server on localhost without a proxy', async () => {
    const port = portOf(server);
    const script = `fetch('http://localhost:${port}/x').then(async (r) => console.log(r.status, await r.text()))`;
    expect(await run(script)).toMatchObject({ output: '200 hello\n' });
    expect(ofServer).toEqual(['connection', `GET localhost:${port} /x`]);
  });

  it.each(['127.0.0.1', '::1', 'localhost'])('reaches no other server of the machine at %s', async (host) => {
    expect(await run(connect(host, portOf(neighbour)))).toMatchObject({ output: 'ECONNREFUSED\n' });
    expect(ofNeighbour).toEqual([]);
  });

  it('has no interface but its own loopback', async () => {
    const { output } = await run('console.log(Object.keys(require("os").networkInterfaces()).join())');
    expect(output).toBe('lo\n');
    expect(await run(connect('169.254.169.254', 80))).toMatchObject({ output: 'ENETUNREACH\n' });
  });

  it.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0',
    'LOCALHOST.',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '2852039166',
    'metadata.google.internal',
  ])('gets a refusal from the proxy for %s', async (host) => {
    const { output } = await request(`CONNECT ${host}:${portOf(neighbour)} HTTP/1.1\r\nHost: x`);
    expect(output).toMatch(/^HTTP\/1\.1 403 Cadastre refuses .*CADASTRE_EXECUTOR_PERMITTED_HOSTS/);
    const plain = await request(`GET http://${host}:${portOf(neighbour)}/ HTTP/1.1\r\nHost: x`);
    expect(plain.output).toMatch(/^HTTP\/1\.1 403 Cadastre refuses /);
    expect(ofNeighbour).toEqual([]);
  });

  it.each([
    'CONNECT x HTTP/1.1',
    'CONNECT x:99999 HTTP/1.1',
    'GET / HTTP/1.1',
    'GET ftp://x/ HTTP/1.1',
    'GET file:///etc/passwd HTTP/1.1',
  ])('gets 400 from the proxy for %s', async (line) => {
    expect((await request(`${line}\r\nHost: x`)).output).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('reaches a local server that the operator permits, through the proxy', async () => {
    const permitting = await openSandbox(buildSettings('https://cadastre.test', LIMITS, ['127.0.0.1']));
    const port = portOf(neighbour);
    const post = `
      const request = require('http').request({ port: 3128, host: '127.0.0.1', method: 'POST',
        path: 'http://127.0.0.1:${port}/path?query=1', headers: { host: '127.0.0.1:${port}', 'proxy-authorization': 'x', connection: 'x-hop', 'x-hop': '1' } });
      request.on('response', async (response) => console.log(response.statusCode, response.headers['x-answer'], (await response.toArray()).join('')));
      request.end('body');`;
    expect(await run(post, permitting)).toMatchObject({ output: '200 yes body\n' });
    expect(ofNeighbour).toEqual(['connection', `POST 127.0.0.1:${port} /path?query=1`]);
    const { output } = await request(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x`, permitting);
    expect(output).toBe('HTTP/1.1 200 Connection established\n');
  });

  it('gets 502 from the proxy for a server that does not answer', async () => {
    const closed = await startServer([]);
    const port = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    const permitting = await openSandbox(buildSettings('https://cadastre.test', LIMITS, ['127.0.0.1']));
    expect((await request(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x`, permitting)).output).toMatch(
      /^HTTP\/1\.1 502 .*ECONNREFUSED/,
    );
  });

  it('reaches servers of ssh through the proxy', async () => {
    const permitting = await openSandbox(buildSettings('https://cadastre.test', LIMITS, ['127.0.0.1']));
    const command = await permitting.start({
      argv: [NODE, '/run/cadastre/launcher.mjs', 'connect', '127.0.0.1', String(portOf(neighbour))],
      workingDirectory: '/',
      environment: {},
      mounts: [],
      seconds: 120,
    });
    // Standard input is empty, so the connection ends.
    expect(await collectResult(command)).toMatchObject({ code: 0, errors: '' });
    expect(ofNeighbour).toEqual(['connection']);
  });
});
