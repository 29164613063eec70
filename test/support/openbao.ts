import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './folders.js';
import { freePorts } from './free-ports.js';
import { runKeptProgram, type KeptProgram } from './kept-program.js';
import { waitUntil } from './product.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

/** The first call on a machine downloads OpenBao. */
export const INSTALL_OPENBAO_TIMEOUT_MS = 5 * 60_000;

type VaultBody = {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly auth?: { readonly client_token: string };
  readonly keys?: readonly string[];
  readonly root_token?: string;
};

/** A Vault-compatible server with the transit engine at `transit`, and in it a key `cadastre`. */
export type OpenBao = {
  readonly address: string;
  readonly rootToken: string;
  /** Sends a request as root. Fails unless it succeeds. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<VaultBody>;
  /** Returns a token with this policy. It permits what processes and commands of Cadastre need, unless `policy` differs. */
  createToken(policy?: string): Promise<string>;
  lock(): Promise<void>;
  unlock(): Promise<void>;
  /** Sends SIGKILL. */
  stop(): Promise<void>;
  /** Starts it again with the same data, and unlocks it. */
  start(): Promise<void>;
  remove(): Promise<void>;
};

/** The policy of the how-to page. */
export const POLICY = ['decrypt/cadastre', 'encrypt/cadastre', 'rewrap/cadastre', 'datakey/wrapped/cadastre']
  .map((path) => `path "transit/${path}" { capabilities = ["update"] }`)
  .join('\n');

const formatConfiguration = (folder: string, [port, clusterPort]: readonly [number, number]): string =>
  JSON.stringify({
    // The only storage of OpenBao without another server that keeps its data after a restart.
    storage: { raft: { path: join(folder, 'data'), node_id: 'one', performance_multiplier: 1 } },
    listener: {
      tcp: {
        address: `127.0.0.1:${port}`,
        cluster_address: `127.0.0.1:${clusterPort}`,
        tls_disable: true,
      },
    },
    api_addr: `http://127.0.0.1:${port}`,
    cluster_addr: `https://127.0.0.1:${clusterPort}`,
  });

/** Starts OpenBao on 127.0.0.1, without TLS. */
export const startOpenBao = async (): Promise<OpenBao> => {
  requirePrograms('python3');
  const program = (await run('bash', [join(ROOT, 'test/support/install-openbao')])).stdout.trim();
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-openbao-'));
  const ports = await freePorts();
  const address = `http://127.0.0.1:${ports[0]}`;
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'server.json'), formatConfiguration(folder, ports));
  let running: KeptProgram | null = null;
  let [rootToken, unlockKey] = ['', ''];

  const send = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': rootToken, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const call: OpenBao['call'] = async (method, path, body, headers) => {
    const response = await send(method, path, body, headers);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} of OpenBao: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as VaultBody);
  };
  const answers = async (): Promise<boolean> => {
    const failure = running?.failure();
    if (failure) throw new Error(`OpenBao ended: ${failure}`);
    return (await send('GET', 'sys/seal-status').catch(() => null))?.ok ?? false;
  };
  const launch = async (): Promise<void> => {
    running = await runKeptProgram(program, ['server', '-config', join(folder, 'server.json')], join(folder, 'log'));
    await waitUntil(answers, 'OpenBao answers');
  };
  const unlock = async (): Promise<void> => {
    await call('POST', 'sys/unseal', { key: unlockKey });
    // A server that is unlocked refuses requests until it has become active.
    await waitUntil(async () => (await send('GET', 'sys/health')).status === 200, 'OpenBao is unsealed');
  };

  await launch();
  const { keys = [], root_token = '' } = await call('POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 });
  [rootToken, unlockKey] = [root_token, keys[0] ?? ''];
  await unlock();
  await call('POST', 'sys/mounts/transit', { type: 'transit' });
  await call('POST', 'transit/keys/cadastre', {});
  return {
    address,
    rootToken,
    call,
    createToken: async (policy = POLICY) => {
      await call('POST', 'sys/policies/acl/cadastre', { policy });
      const { auth } = await call('POST', 'auth/token/create', { policies: ['cadastre'], no_default_policy: true });
      return auth?.client_token ?? '';
    },
    lock: async () => void (await call('POST', 'sys/seal')),
    unlock,
    stop: async () => running?.kill(),
    start: async () => {
      await launch();
      await unlock();
    },
    remove: async () => {
      await running?.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
