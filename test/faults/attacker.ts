import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

// noisy-neighbours.spec.ts starts this program as a process of its own, so that an attacker's work never delays the
// victim's clock. It imports only modules of Node. It reads one JSON object from its environment, prints a line before its first
// request, and prints one JSON object when SIGTERM ends it.

/** The data that noisy-neighbours.spec.ts prepares for the attackers. */
export type AttackTarget = {
  readonly host: string;
  readonly port: number;
  /** Token of a user who is a member of no organization. */
  readonly outsider: string;
  /** Token of an owner of the organization `attacker`. */
  readonly owner: string;
  /** Id of a workspace of `attacker` that the owner has locked. */
  readonly workspace: string;
  /** Id of a state version of 10 MB in the workspace. */
  readonly stateVersion: string;
};

/** Number of responses by status. A broken connection counts under its error code. */
export type AttackReport = { readonly statuses: Readonly<Record<string, number>> };

type Request = {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

const target = JSON.parse(process.env['ATTACK_TARGET'] ?? '{}') as AttackTarget;
const statuses: Record<string, number> = {};
const count = (result: string): void => void (statuses[result] = (statuses[result] ?? 0) + 1);

const agent = new http.Agent({ keepAlive: true, maxSockets: 512 });

const send = ({ method, path, token, body, headers }: Request): Promise<void> =>
  new Promise((resolve) => {
    const { host, port } = target;
    const done = (result: string): void => {
      count(result);
      resolve();
    };
    const request = http.request({
      host,
      port,
      method,
      path: encodeURI(path),
      agent,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/vnd.api+json', 'content-length': body.length }),
        ...headers,
      },
    });
    request.once('response', (response) => {
      response.resume();
      response.once('end', () => done(String(response.statusCode)));
      response.once('error', ({ message }) => done(message));
    });
    request.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    request.end(body);
  });

let isStopped = false;
process.once('SIGTERM', () => (isStopped = true));
const isOver = (): boolean => isStopped;

/** The request is ready: a body of 200 MB takes a while. */
const announce = (): void => void process.stdout.write('begins\n');

/** Runs this number of clients. Each sends a request as soon as the one before is answered. */
const flood = async (clients: number, request: (n: number) => Request): Promise<void> => {
  announce();
  let sent = 0;
  const client = async (): Promise<void> => {
    while (!isOver()) await send(request((sent += 1)));
  };
  await Promise.all(Array.from({ length: clients }, client));
};

/**
 * Opens this number of connections. Each sends a first piece and then a byte every 500 ms until the server closes it.
 */
const trickle = async (connections: number, first: string | Buffer): Promise<void> => {
  announce();
  const { host, port } = target;
  const one = async (): Promise<void> => {
    const socket = connect({ host, port });
    socket.once('error', (error: NodeJS.ErrnoException) => count(error.code ?? error.message));
    socket.once('close', () => count('closed'));
    socket.resume();
    socket.write(first);
    while (!isOver() && !socket.destroyed) {
      await wait(500);
      socket.write('a');
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, one));
};

/** Opens this number of connections. Each sends all requests in one piece, again and again. */
const pipeline = async (connections: number, requests: Buffer): Promise<void> => {
  announce();
  const { host, port } = target;
  const one = async (): Promise<void> => {
    const socket = connect({ host, port });
    socket.once('error', (error: NodeJS.ErrnoException) => count(error.code ?? error.message));
    socket.resume();
    while (!isOver() && !socket.destroyed) {
      socket.write(requests);
      await wait(100);
    }
    count('closed');
    socket.destroy();
  };
  const client = async (): Promise<void> => {
    while (!isOver()) await one();
  };
  await Promise.all(Array.from({ length: connections }, client));
};

const MIB = 1024 * 1024;

const jsonOf = (bytes: number): Buffer =>
  Buffer.from(`{"data":{"type":"state-versions","attributes":{"serial":1,"state":"${'A'.repeat(bytes)}"}}}`);

const filters = (filterCount: number, prefix: string): string =>
  Array.from({ length: filterCount }, (_, n) => `filter[tagged][${n}][key]=${prefix}${n}`).join('&');

const fact = (n: number): object => ({
  source: 'https://attacker.example',
  id: `fact-${process.pid}-${n}`,
  time: new Date().toISOString(),
  auth: { accessor_id: 'user-attacker', description: 'attacker', type: 'Client' },
  resource: { id: `pol-${n}`, type: 'stack', action: 'create', meta: { name: 'x'.repeat(40) } },
});

const factsBody = (from: number): Buffer =>
  Buffer.from(JSON.stringify({ facts: Array.from({ length: 200 }, (_, n) => fact(from + n)) }));

const rename = (n: number): Buffer =>
  Buffer.from(JSON.stringify({ data: { type: 'users', attributes: { username: `renamed-${process.pid}-${n}` } } }));

const headOf = (path: string, token: string | null, length: number): string =>
  [
    `POST ${path} HTTP/1.1`,
    `Host: ${target.host}`,
    'Content-Type: application/vnd.api+json',
    ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');

const { outsider, owner, workspace, stateVersion } = target;
const states = `/api/v2/workspaces/${workspace}/state-versions`;

const attacks: Readonly<Record<string, () => Promise<void>>> = {
  'a 200 MB body by an outsider': () => {
    const body = jsonOf(200 * MIB);
    const path = '/api/v2/workspaces/ws-doesnotexist/state-versions';
    return flood(2, () => ({ method: 'POST', path, token: outsider, body }));
  },
  'a 30 MB body by an owner': () => {
    const body = jsonOf(30 * MIB);
    return flood(2, () => ({ method: 'POST', path: states, token: owner, body }));
  },
  '9 MB states by an owner': () => {
    const body = jsonOf(12 * MIB);
    return flood(2, () => ({ method: 'POST', path: states, token: owner, body }));
  },
  '2 MB bodies without a token': () => {
    const body = jsonOf(2 * MIB);
    const paths = ['/api/v2/organizations', '/api/v2/no-such-route'];
    return flood(8, (n) => ({ method: 'POST', path: paths[n % 2] as string, body }));
  },
  'hundreds of tag filters': () => {
    const lists = [
      '/api/v2/organizations/no-such-organization/workspaces',
      '/api/v2/organizations/attacker/workspaces',
    ];
    return flood(8, (n) => ({ method: 'GET', path: `${lists[n % 2]}?${filters(300, 'k')}`, token: owner }));
  },
  'searches without an index': () =>
    flood(16, (n) => ({
      method: 'GET',
      path: `/api/v2/organizations/attacker/workspaces?search[wildcard-name]=*${n % 7}*&${filters(8, 'k')}`,
      token: owner,
    })),
  'outputs of a 10 MB state': () =>
    flood(4, () => ({ method: 'GET', path: `/api/v2/state-versions/${stateVersion}/outputs`, token: owner })),
  'variables with long values': () =>
    flood(4, () => ({ method: 'GET', path: `/api/v2/workspaces/${workspace}/vars`, token: owner })),
  'slow requests on 300 connections': () =>
    trickle(300, `GET /api/v2/ping HTTP/1.1\r\nHost: ${target.host}\r\nX-Slow: `),
  'unfinished bodies on 300 connections': () =>
    trickle(300, Buffer.from(headOf('/api/v2/organizations', owner, 250_000) + ' '.repeat(200_000))),
  'pipelined requests on 200 connections': () =>
    pipeline(200, Buffer.from(`GET /api/v2/ping HTTP/1.1\r\nHost: ${target.host}\r\n\r\n`.repeat(300))),
  'wrong tokens': () =>
    flood(16, () => ({ method: 'GET', path: '/api/v2/account/details', token: randomBytes(24).toString('hex') })),
  'one token without a pause': () =>
    flood(16, () => ({ method: 'GET', path: '/api/v2/account/details', token: owner })),
  renames: () =>
    flood(4, (n) => ({ method: 'PATCH', path: '/api/v2/account/update', token: outsider, body: rename(n) })),
  'facts by the thousand': () =>
    flood(4, (n) => ({
      method: 'POST',
      path: '/api/v2/organizations/attacker/audit-facts',
      token: owner,
      body: factsBody(n * 200),
    })),
};

// Real attackers have machines of their own. Here they must not take the processor from the server and the victim.
setPriority(19);
const attack = attacks[process.env['ATTACK'] ?? ''];
if (!attack) throw new Error(`ATTACK must be one of ${Object.keys(attacks).join(', ')}`);
await attack();
agent.destroy();
process.stdout.write(JSON.stringify({ statuses } satisfies AttackReport));
process.exit(0);
