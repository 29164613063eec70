import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IdentityTokens } from '#identity/oidc-issuer';
import { INSTALL_OPENBAO_TIMEOUT_MS, startOpenBao, type OpenBao } from '../../../../test/support/openbao.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import type { VaultLogin } from './vault-login.js';
import { VaultSessions } from './vault-sessions.js';

let server: TestServer;
let bao: OpenBao;

const AUDIENCE = 'vault.workload.identity';
const SUBJECT = 'organization:acme:project:Default Project:workspace:shop:run_phase:plan';

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  bao = await startOpenBao();
  await bao.call('POST', 'sys/auth/jwt', { type: 'jwt' });
  const issuer = server.runtime.settings.publicUrl;
  await bao.call('POST', 'auth/jwt/config', { jwks_url: `${server.url}/.well-known/jwks`, bound_issuer: issuer });
  await bao.call('POST', 'auth/jwt/role/reader', {
    role_type: 'jwt',
    user_claim: 'terraform_full_workspace',
    bound_audiences: [AUDIENCE],
    bound_subject: SUBJECT,
    token_ttl: '20m',
  });
}, INSTALL_OPENBAO_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await bao.remove();
});

const sign = (sub = SUBJECT): Promise<string> =>
  server.resolve(IdentityTokens).sign({ sub, terraform_full_workspace: sub }, AUDIENCE, 600);

const describeLogin = async (changes: Partial<VaultLogin> = {}): Promise<VaultLogin> => ({
  address: bao.address,
  namespace: '',
  path: 'jwt',
  role: 'reader',
  authority: null,
  token: await sign(),
  ...changes,
});

const anyAddress = ({ host }: { readonly host: string }) => Promise.resolve([host]);

const lookUp = (token: string) => bao.call('POST', 'auth/token/lookup', { token });

describe('the sessions of a run at Vault', () => {
  it('begin with the token of the run, and end with the phase', async () => {
    const sessions = new VaultSessions(anyAddress);
    const secret = await sessions.logIn(await describeLogin());
    expect((await lookUp(secret)).data).toMatchObject({ display_name: expect.stringContaining('jwt') });
    await sessions.close();
    await expect(lookUp(secret)).rejects.toThrow('403');
  });

  it('are refused with the reason of Vault', async () => {
    const sessions = new VaultSessions(anyAddress);
    const token = await sign(SUBJECT.replace('shop', 'other'));
    await expect(sessions.logIn(await describeLogin({ token }))).rejects.toThrow(
      /^Vault at http:\/\/127\.0\.0\.1:\d+ refuses auth\/jwt\/login: .*sub/,
    );
    await expect(sessions.logIn(await describeLogin({ role: 'unknown' }))).rejects.toThrow('role "unknown"');
    await expect(sessions.logIn(await describeLogin({ address: 'vault.example.com' }))).rejects.toThrow(
      'TFC_VAULT_ADDR must be an https:// or http:// address, got vault.example.com',
    );
  });

  it('reach only hosts that runs may reach', async () => {
    const sessions = new VaultSessions(({ host }) => Promise.reject(new Error(`${host} is not permitted`)));
    await expect(sessions.logIn(await describeLogin())).rejects.toThrow(
      'cannot be reached: 127.0.0.1 is not permitted',
    );
  });
});
