import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, type Product } from '../support/product.js';
import { makeOrganization } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';

let product: Product;
let api: ApiTestClient;

beforeAll(async () => {
  product = await launchProduct();
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
});
afterAll(() => product?.remove());

const accountStatus = async (token: string): Promise<number> =>
  (await api.as(token).get('/api/v2/account/details')).status;

describe('commands beside a running server', () => {
  it('create, list and revoke a token, and never show its secret again', async () => {
    const created = await product.run('token', 'create', '--user', 'ada', '--description', 'for CI');
    expect(created).toMatchObject({ code: 0 });
    expect(created.stderr).toMatch(/^This token expires at \d{4}-\S+Z\.\n$/);
    const secret = created.stdout.trim();
    expect(await accountStatus(secret)).toBe(200);

    const listed = await product.run('token', 'list', '--user', 'ada', '--json');
    expect(listed.stdout).not.toContain(secret);
    const tokens = JSON.parse(listed.stdout) as { id: string }[];
    expect(tokens).toEqual([
      expect.objectContaining({ owner: 'ada', kind: 'user', description: 'for CI', expiredAt: expect.any(String) }),
    ]);

    expect(await product.run('token', 'revoke', tokens[0]?.id ?? '')).toMatchObject({ code: 0 });
    expect(await accountStatus(secret)).toBe(401);
    expect(await product.run('token', 'revoke', tokens[0]?.id ?? '')).toMatchObject({
      code: 1,
      stderr: `There is no token with the id ${tokens[0]?.id}\n`,
    });
  });

  it('create a pool of the site with a token for its executors, list it, and delete both', async () => {
    const created = await product.run('pool', 'create', 'builders');
    expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(/^This token expires at \d{4}-\S+Z\.\n$/) });
    const executor = api.as(created.stdout.trim());
    const registration = { type: 'agents', attributes: { name: 'one', 'protocol-version': '1.0' } };
    expect((await executor.post('/api/v2/agents', { data: registration })).status).toBe(201);
    const [listed] = JSON.parse((await product.run('pool', 'list', '--json')).stdout) as { id: string }[];
    expect(listed).toMatchObject({ name: 'builders', agents: 1, tokens: 1 });
    expect((await api.get(`/api/v2/agent-pools/${listed?.id}`)).body.data.attributes.name).toBe('builders');
    expect((await product.run('token', 'list')).stdout).toMatch(/ builders +agent /);

    const again = await product.run('pool', 'create', 'BUILDERS');
    expect(again).toMatchObject({ code: 1, stderr: 'Name has already been taken\n' });
    expect(await product.run('pool', 'delete', 'Builders')).toMatchObject({ code: 0 });
    expect((await executor.get(`/api/v2/agent-pools/${listed?.id}/runs`)).status).toBe(401);
    expect(await product.run('pool', 'delete', 'builders')).toMatchObject({
      code: 1,
      stderr: 'No pool of the site has the name builders\n',
    });
  });

  it('create a token without expiry only with --never-expires, and print a warning', async () => {
    const created = await product.run('token', 'create', '--user', 'edsger', '--never-expires');
    expect(created).toMatchObject({ code: 0 });
    expect(created.stderr).toMatch(/^WARNING: this token never expires\./);
    const listed = await product.run('token', 'list', '--user', 'edsger', '--json');
    expect(JSON.parse(listed.stdout)).toEqual([expect.objectContaining({ expiredAt: null })]);
  });

  it('revoke the tokens of a user with a reset, and print how many', async () => {
    const tokens = [];
    for (const description of ['one', 'two']) {
      tokens.push(
        (await product.run('token', 'create', '--user', 'niklaus', '--description', description)).stdout.trim(),
      );
    }
    const alone = await product.run('user', 'sign-in-link', 'niklaus', '--revoke-tokens');
    expect(alone).toMatchObject({ code: 1, stdout: '' });
    expect(alone.stderr).toContain('--revoke-tokens: requires --reset');
    const refused = await product.run('user', 'sign-in-link', 'niklaus', '--reset', '--revoke-tokens');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('All tokens of niklaus are revoked now, and again when the link is used.');
    expect(await accountStatus(tokens[0] ?? '')).toBe(200);
    const done = await product.run('user', 'sign-in-link', 'niklaus', '--reset', '--revoke-tokens', '--yes');
    expect(done).toMatchObject({ code: 0 });
    expect(done.stderr).toContain('Revoked 2 tokens of niklaus.');
    expect(await Promise.all(tokens.map(accountStatus))).toEqual([401, 401]);
  });

  it('list users, and forget one only after a confirmation', async () => {
    await product.run('token', 'create', '--user', 'grace', '--owner-of', 'acme');
    const users = await product.run('user', 'list');
    expect(users.stdout).toMatch(/^ID +USERNAME +EMAIL +SITE ADMIN +ORGANIZATIONS +TOKENS\n/);
    expect(users.stdout).toMatch(/^user-\w+ +grace +– +no +acme +1$/m);

    const refused = await product.run('user', 'forget', 'grace');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^This forgets the user grace \(user-\w+\) for good:\n {2}- revokes 1 tokens, and removes 1 member/,
    );
    expect(refused.stderr).toMatch(/\nnot confirmed; run this in a terminal, or add --yes. Nothing was changed\n$/);
    const mistyped = await product.runInTerminal('grade', 'user', 'forget', 'grace');
    expect(mistyped.code).toBe(1);
    expect(mistyped.stdout).toMatch(/Type grace to confirm: [^]*not confirmed. Nothing was changed/);
    expect((await product.run('user', 'list')).stdout).toContain('grace');

    await product.run('token', 'create', '--user', 'heidi', '--owner-of', 'acme');
    const confirmed = await product.runInTerminal('heidi', 'user', 'forget', 'heidi');
    expect(confirmed.code).toBe(0);
    expect(confirmed.stdout).toMatch(/Type heidi to confirm: [^]*heidi is forgotten/);
    expect(await product.run('user', 'forget', 'grace', '--yes')).toMatchObject({
      code: 0,
      stdout: 'grace is forgotten.\n',
    });
  });

  it('examine the installation: every check of doctor passes', async () => {
    const healthy = await product.run('doctor');
    expect(healthy).toMatchObject({ code: 0, stderr: '' });
    const lines = healthy.stdout.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines.map((line) => /^\w+ +([^:]+):/.exec(line)?.[1])).toEqual(
      expect.arrayContaining(['settings', 'disk', 'certificate', 'database', 'key', 'clock', 'follower audit_trail']),
    );
  });

  it('name what fails: a missing broker, or an invalid setting', async () => {
    const sick = await product.runWith({ KAFKA_BROKERS: '127.0.0.1:1' }, 'doctor');
    expect(sick.code).toBe(1);
    expect(sick.stdout).toMatch(/^FAILED +kafka: cannot be reached \(.*\); start it, or correct KAFKA_BROKERS$/m);
    expect(sick.stdout).toMatch(/^FAILED +follower publisher: no process runs it, \d+ events behind; start serve or/m);
    const invalid = await product.runWith({ PORT: 'http' }, 'doctor');
    expect(invalid).toMatchObject({ code: 1 });
    expect(invalid.stdout).toMatch(/^FAILED +settings: PORT: must be a whole number .*, got "http"$/m);
  });
});

describe('commands without a site', () => {
  it('fail and create nothing, unless --init requests a new site', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'cadastre-empty-'));
    const empty = { CADASTRE_DATA: join(parent, 'data') };
    const refused = await product.runWith(empty, 'token', 'create', '--user', 'ada');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^CADASTRE_DATA: there is no site in \S+; .*; --init creates a new site there\n$/);
    expect(await product.runWith(empty, 'verify')).toMatchObject({ code: 1, stdout: '' });
    expect(await readdir(parent)).toEqual([]);

    const created = await product.runWith(empty, 'token', 'create', '--user', 'ada', '--init');
    expect(created).toMatchObject({ code: 0 });
    expect(created.stdout).toMatch(/^\w+\.atlasv1\.\w+\n$/);
    await rm(parent, { recursive: true });
  });
});

describe('the command line', () => {
  it('prints its version', async () => {
    expect(await product.run('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it.each([
    [['serve', '--foo'], "error: unknown option '--foo'\nSee 'cadastre serve --help'.\n"],
    [['frobnicate'], "error: unknown command 'frobnicate'\nSee 'cadastre --help'.\n"],
    [
      ['token', 'create'],
      "error: required option '--user <name>' not specified\nSee 'cadastre token create --help'.\n",
    ],
  ])('refuses %j with one line and the command that prints the help', async (args, stderr) => {
    expect(await product.run(...args)).toMatchObject({ code: 1, stdout: '', stderr });
  });
});
