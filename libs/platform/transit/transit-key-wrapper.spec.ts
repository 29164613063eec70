import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { KeyWrapperError, type KeyWrapperFailure } from '#platform/encryption';
import type { TransitLogin, TransitSettings } from '#platform/settings';
import { INSTALL_OPENBAO_TIMEOUT_MS, POLICY, startOpenBao, type OpenBao } from '../../../test/support/openbao.js';
import { issueCa, issueServerCertificate } from '../host/certificates/certificates.js';
import { TransitKeyWrapper } from './index.js';

let bao: OpenBao;
let folder: string;
let credentialFile: string;
const opened: TransitKeyWrapper[] = [];

beforeAll(async () => {
  bao = await startOpenBao();
  folder = await mkdtemp(join(tmpdir(), 'cadastre-transit-'));
  credentialFile = join(folder, 'credential');
}, INSTALL_OPENBAO_TIMEOUT_MS);

afterAll(async () => {
  await bao.remove();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => writeFile(credentialFile, `${await bao.createToken()}\n`));

afterEach(async () => {
  for (const wrapper of opened.splice(0)) await wrapper.close();
});

const open = (settings: Partial<TransitSettings> = {}, signal: AbortSignal | null = null): TransitKeyWrapper => {
  const defaults: TransitSettings = {
    address: bao.address,
    caFile: null,
    namespace: null,
    mount: 'transit',
    keyName: 'cadastre',
    login: { method: 'token' },
    credentialFile,
    timeoutMs: 5_000,
  };
  const wrapper = new TransitKeyWrapper({ ...defaults, ...settings }, signal);
  opened.push(wrapper);
  return wrapper;
};

/** Returns failure and message. Fails if the work succeeds. */
const failureOf = async (work: Promise<unknown>): Promise<readonly [KeyWrapperFailure, string]> => {
  const error = await work.then(
    () => new Error('it succeeded'),
    (failed: unknown) => failed,
  );
  if (!(error instanceof KeyWrapperError)) throw error;
  return [error.failure, error.message];
};

const readSessions = async (): Promise<number> =>
  ((await bao.call('GET', 'sys/internal/counters/tokens')).data as { counters: { service_tokens: { total: number } } })
    .counters.service_tokens.total;

describe('a key that Vault wraps', () => {
  it('is unwrapped to the same bytes, and looks different each time', async () => {
    const key = randomBytes(32);
    const wrapper = open();
    const [one, two] = [await wrapper.wrap(key), await wrapper.wrap(key)];
    expect(one).toMatch(/^vault:v1:/);
    expect(one).not.toBe(two);
    expect(await wrapper.unwrap(one)).toEqual(key);
    expect(await open().unwrap(two)).toEqual(key);
  });

  it('is created with 32 random bytes', async () => {
    const wrapper = open();
    const keys = await Promise.all(
      [wrapper.create(), wrapper.create()].map(async (text) => wrapper.unwrap(await text)),
    );
    expect(keys.map(({ length }) => length)).toEqual([32, 32]);
    expect(keys[0]).not.toEqual(keys[1]);
  });

  it('is wrapped again with the newest version, and the old form works until Vault excludes its version', async () => {
    await bao.call('POST', 'transit/keys/rotated', {});
    const policy = POLICY.replaceAll('cadastre', 'rotated');
    await writeFile(credentialFile, await bao.createToken(policy));
    const wrapper = open({ keyName: 'rotated' });
    const old = await wrapper.create();
    await bao.call('POST', 'transit/keys/rotated/rotate', {});
    const renewed = await wrapper.rewrap(old);
    expect(renewed).toMatch(/^vault:v2:/);
    expect(await wrapper.unwrap(renewed)).toEqual(await wrapper.unwrap(old));
    await bao.call('POST', 'transit/keys/rotated/config', { min_decryption_version: 2 });
    const [failure, message] = await failureOf(wrapper.unwrap(old));
    expect(failure).toBe('wrong-key');
    expect(message).toBe(
      'it is wrapped with a version of transit/keys/rotated below min_decryption_version; lower that, and run cadastre keys rewrap',
    );
    expect(await wrapper.unwrap(renewed)).toHaveLength(32);
  });
});

describe('a login', () => {
  it('reads the token again after Vault has refused it', async () => {
    const wrapper = open();
    const wrapped = await wrapper.create();
    await writeFile(credentialFile, 's.expired');
    const late = open();
    expect(await failureOf(late.unwrap(wrapped))).toEqual([
      'unavailable',
      'CADASTRE_VAULT_CREDENTIAL_FILE: Vault refuses the token; renew it, or let its policy permit update on ' +
        'transit/decrypt/cadastre',
    ]);
    await writeFile(credentialFile, await bao.createToken());
    expect(await late.unwrap(wrapped)).toHaveLength(32);
  });

  describe('with approle', () => {
    let login: TransitLogin;

    beforeAll(async () => {
      await bao.call('POST', 'sys/auth/machines/approle', { type: 'approle' });
      await bao.createToken();
      const role = 'auth/machines/approle/role/cadastre';
      await bao.call('POST', role, { token_policies: ['default', 'cadastre'] });
      const { data } = await bao.call('GET', `${role}/role-id`);
      login = { method: 'approle', mount: 'machines/approle', role: String(data?.['role_id']) };
    });

    const writeSecretId = async (): Promise<void> => {
      const { data } = await bao.call('POST', 'auth/machines/approle/role/cadastre/secret-id', {});
      await writeFile(credentialFile, String(data?.['secret_id']));
    };

    it('unwraps, and leaves no token when it is closed', async () => {
      await writeSecretId();
      const before = await readSessions();
      const wrapper = open({ login });
      expect(await wrapper.unwrap(await wrapper.create())).toHaveLength(32);
      expect(await readSessions()).toBe(before + 1);
      await wrapper.close();
      expect(await readSessions()).toBe(before);
    });

    it('leaves no token when it is closed after an abort', async () => {
      await writeSecretId();
      const before = await readSessions();
      const stopping = new AbortController();
      const wrapper = open({ login }, stopping.signal);
      await wrapper.create();
      expect(await readSessions()).toBe(before + 1);
      stopping.abort(new Error('stopping'));
      await wrapper.close();
      expect(await readSessions()).toBe(before);
    });

    it('leaves no token, and names the policy, each time when its role lacks the policy', async () => {
      const role = 'auth/machines/approle/role/powerless';
      await bao.call('POST', role, { token_policies: ['default'] });
      const { data: identity } = await bao.call('GET', `${role}/role-id`);
      const { data: secret } = await bao.call('POST', `${role}/secret-id`, {});
      await writeFile(credentialFile, String(secret?.['secret_id']));
      const before = await readSessions();
      const mount = 'machines/approle';
      const wrapper = open({ login: { method: 'approle', mount, role: String(identity?.['role_id']) } });
      for (const attempt of [1, 2]) {
        expect([attempt, ...(await failureOf(wrapper.create()))]).toEqual([
          attempt,
          'unavailable',
          'CADASTRE_VAULT_ROLE: the role at machines/approle has no policy that permits update on ' +
            'transit/datakey/wrapped/cadastre; add one to the role, or correct CADASTRE_VAULT_ROLE',
        ]);
        expect(await readSessions()).toBe(before);
      }
    });

    it('is refused with another secret id until the file has a valid one', async () => {
      await writeFile(credentialFile, 'expired');
      const wrapper = open({ login });
      expect(await failureOf(wrapper.create())).toEqual([
        'unavailable',
        'CADASTRE_VAULT_CREDENTIAL_FILE: Vault refuses the login at machines/approle; replace the credential in the ' +
          'file, or correct CADASTRE_VAULT_ROLE or CADASTRE_VAULT_AUTH_MOUNT',
      ]);
      await writeSecretId();
      expect(await wrapper.create()).toMatch(/^vault:/);
    });

    it('is refused in a namespace that does not exist', async () => {
      await writeSecretId();
      const [failure, message] = await failureOf(open({ login, namespace: 'none' }).create());
      expect(failure).toBe('misconfigured');
      expect(message).toMatch(
        /^CADASTRE_VAULT_NAMESPACE: Vault at \S+ has no auth method at machines\/approle there; /,
      );
    });
  });

  describe('with the service account of a pod', () => {
    let kubernetes: Server;
    const reviewed: string[] = [];

    beforeAll(async () => {
      // The part of the API of Kubernetes that OpenBao uses: TokenReview.
      kubernetes = createServer((request, response) => {
        let text = '';
        request.on('data', (chunk: Buffer) => (text += chunk.toString()));
        request.on('end', () => {
          const { token } = (JSON.parse(text) as { spec: { token: string } }).spec;
          reviewed.push(token);
          const user = { username: 'system:serviceaccount:prod:cadastre', uid: 'u1', groups: [] };
          const status = { authenticated: true, user };
          response.writeHead(201, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }));
        });
      });
      await new Promise<void>((resolve) => kubernetes.listen(0, '127.0.0.1', resolve));
      await bao.call('POST', 'sys/auth/kubernetes', { type: 'kubernetes' });
      await bao.call('POST', 'auth/kubernetes/config', {
        kubernetes_host: `http://127.0.0.1:${(kubernetes.address() as AddressInfo).port}`,
        token_reviewer_jwt: 'reviewer',
        disable_local_ca_jwt: true,
        kubernetes_ca_cert: (await issueCa(new Date())).certificate,
      });
      await bao.createToken();
      await bao.call('POST', 'auth/kubernetes/role/cadastre', {
        bound_service_account_names: ['cadastre'],
        bound_service_account_namespaces: ['prod'],
        token_policies: ['cadastre'],
      });
    });

    afterAll(async () => {
      kubernetes.closeAllConnections();
      await new Promise((resolve) => kubernetes.close(resolve));
    });

    it('unwraps', async () => {
      const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
      const account = { namespace: 'prod', serviceaccount: { name: 'cadastre', uid: 'u1' } };
      // The API of Kubernetes checks the signature.
      const jwt = `${encode({ alg: 'RS256' })}.${encode({ 'kubernetes.io': account })}.${encode({})}`;
      await writeFile(credentialFile, jwt);
      const wrapper = open({ login: { method: 'kubernetes', mount: 'kubernetes', role: 'cadastre' } });
      expect(await wrapper.unwrap(await wrapper.create())).toHaveLength(32);
      expect(reviewed).toEqual([jwt]);
    });
  });
});

describe('a Vault with TLS', () => {
  let proxy: HttpsServer;
  let caFile: string;

  beforeAll(async () => {
    const now = new Date();
    const ca = await issueCa(now);
    const { certificate, key } = await issueServerCertificate(ca, ['localhost'], now);
    caFile = join(folder, 'ca.pem');
    await writeFile(caFile, ca.certificate);
    proxy = createHttpsServer({ cert: certificate, key }, (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const forwarded = request(`${bao.address}${url}`, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      incoming.pipe(forwarded);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  const at = (host: string): string => `https://${host}:${(proxy.address() as AddressInfo).port}`;

  it('unwraps if its certificate is from the authority of the settings', async () => {
    const wrapper = open({ address: at('localhost'), caFile });
    expect(await wrapper.unwrap(await wrapper.create())).toHaveLength(32);
  });

  it.each([
    ['another authority', 'localhost', null],
    ['another name', '127.0.0.1', 'ca.pem'],
  ])('is refused with a certificate of %s', async (_, host, file) => {
    const wrapper = open({ address: at(host), caFile: file && join(folder, file) });
    expect(await failureOf(wrapper.create())).toEqual([
      'misconfigured',
      expect.stringMatching(/^CADASTRE_VAULT_CA: \S+ has a certificate that this process does not trust; /),
    ]);
  });
});

describe('a Vault that cannot unwrap', () => {
  const wrapped = `vault:v1:${randomBytes(60).toString('base64')}`;

  it.each([
    ['of another key', {}, 'wrong-key', /^transit\/keys\/cadastre of Vault does not decrypt it; /],
    ['with a name without a key', { keyName: 'none' }, 'misconfigured', /^CADASTRE_VAULT_TRANSIT_KEY: /],
    ['with a wrong mount', { mount: 'none' }, 'misconfigured', /^CADASTRE_VAULT_TRANSIT_MOUNT: /],
    ['with a wrong namespace', { namespace: 'none' }, 'misconfigured', /CADASTRE_VAULT_NAMESPACE$/],
    [
      'without its file',
      { credentialFile: '/none/s.secret' },
      'unavailable',
      /^CADASTRE_VAULT_CREDENTIAL_FILE: .*ENOENT/,
    ],
    [
      'at another address',
      { address: 'http://127.0.0.1:1' },
      'unavailable',
      /^CADASTRE_VAULT_ADDRESS: .*; start Vault/,
    ],
  ] as const)('is reported with the setting %s', async (_, settings, failure, message) => {
    if ('keyName' in settings || 'mount' in settings) await writeFile(credentialFile, bao.rootToken);
    const result = await failureOf(open(settings).unwrap(wrapped));
    expect(result).toEqual([failure, expect.stringMatching(message)]);
    expect(result[1]).not.toContain('s.secret');
  });

  it('is reported if its key only signs', async () => {
    await bao.call('POST', 'transit/keys/signing', { type: 'ed25519' });
    await writeFile(credentialFile, await bao.createToken(POLICY.replaceAll('cadastre', 'signing')));
    const wrapper = open({ keyName: 'signing' });
    for (const work of [() => wrapper.create(), () => wrapper.wrap(randomBytes(32)), () => wrapper.unwrap(wrapped)]) {
      expect(await failureOf(work())).toEqual([
        'misconfigured',
        'CADASTRE_VAULT_TRANSIT_KEY: transit/keys/signing cannot wrap a key; use a key of the type aes256-gcm96',
      ]);
    }
  });

  it('is reported if the file is empty, or contains more than a credential', async () => {
    for (const text of ['\n', 'two words', 'x'.repeat(20_000)]) {
      await writeFile(credentialFile, text);
      expect(await failureOf(open().unwrap(wrapped))).toEqual([
        'unavailable',
        'CADASTRE_VAULT_CREDENTIAL_FILE: the file must contain one credential of visible ASCII characters',
      ]);
    }
  });

  it('is reported while nobody has unlocked it', async () => {
    await bao.lock();
    const result = await failureOf(open().unwrap(wrapped));
    await bao.unlock();
    expect(result).toEqual(['unavailable', `CADASTRE_VAULT_ADDRESS: Vault at ${bao.address} is sealed; unseal it`]);
  });

  it('gets no request after an abort', async () => {
    const stopping = new AbortController();
    stopping.abort(new Error('stopping'));
    await expect(open({}, stopping.signal).unwrap(wrapped)).rejects.toThrow('stopping');
  });
});

describe('a Vault that does not answer a revocation', () => {
  let server: Server;

  beforeAll(async () => {
    server = createServer((incoming, response) => {
      if (incoming.url === '/v1/auth/approle/login') response.end('{"auth":{"client_token":"s.login"}}');
      else if (incoming.url !== '/v1/auth/token/revoke-self') response.writeHead(400).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('delays the end of a process by two seconds at most', async () => {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const login: TransitLogin = { method: 'approle', mount: 'approle', role: 'cadastre' };
    const wrapper = open({ address, login, timeoutMs: 60_000 });
    await failureOf(wrapper.create());
    const start = performance.now();
    await wrapper.close();
    const elapsed = performance.now() - start;
    expect(elapsed).toBeGreaterThan(1_500);
    expect(elapsed).toBeLessThan(4_000);
  });
});

describe('a server that is no Vault', () => {
  let server: Server;
  let answer: readonly [number, string];

  beforeAll(async () => {
    server = createServer((_, response) => response.writeHead(answer[0], { location: '/' }).end(answer[1]));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each([
    ['a page', 200, '<html>hunter2</html>', 'misconfigured', 'does not answer like a Vault'],
    ['other JSON', 200, '{"data":{"plaintext":7,"secret":"hunter2"}}', 'misconfigured', 'does not answer like a Vault'],
    ['a redirect', 307, 'hunter2', 'unavailable', 'redirects to another address'],
    ['an outage', 502, 'hunter2', 'unavailable', 'answered with 502'],
    ['too many requests', 429, '{"errors":["hunter2"]}', 'unavailable', 'answered with 429'],
    ['too much', 200, `{"data":"${'x'.repeat(100_000)}"}`, 'unavailable', 'cannot be reached'],
  ] as const)('is reported without its answer if it sends %s', async (_, status, text, failure, message) => {
    answer = [status, text];
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const result = await failureOf(open({ address }).unwrap('vault:v1:x'));
    expect(result).toEqual([failure, expect.stringContaining(message)]);
    expect(result[1]).not.toContain('hunter2');
  });

  it.each(['vault:v1:AAAA', `vault:v0:${'A'.repeat(80)}`, Buffer.alloc(32).toString('base64')])(
    'is reported if it sends a wrapped key that no process accepts: %s',
    async (ciphertext) => {
      answer = [200, JSON.stringify({ data: { ciphertext } })];
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const wrapper = open({ address });
      const wrap = () => wrapper.wrap(randomBytes(32));
      for (const work of [() => wrapper.create(), wrap, () => wrapper.rewrap('vault:v1:x')]) {
        expect(await failureOf(work())).toEqual([
          'misconfigured',
          `CADASTRE_VAULT_ADDRESS: ${address} does not answer like a Vault; correct the address`,
        ]);
      }
    },
  );
});
