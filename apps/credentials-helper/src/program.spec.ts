import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CredentialStore, type HelperEnvironment } from './credential-store.js';
import { isHost } from './host.js';
import { runCredentialsHelper } from './program.js';

let home: string;
let env: HelperEnvironment;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'cadastre-credentials-'));
  env = { HOME: home };
});

afterEach(() => rm(home, { recursive: true }));

const HOST = 'cadastre.test:8443';
const run = (args: readonly string[], input = '') =>
  runCredentialsHelper(args, { env, readInput: () => Promise.resolve(input) });
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('the credentials helper', () => {
  it('stores a token in a file that only the user can read, and returns it', async () => {
    expect(await run(['store', HOST], '{"token":"of ada"}')).toEqual({ code: 0, output: '', errors: '' });
    expect(await run(['get', HOST])).toEqual({ code: 0, output: '{"token":"of ada"}\n', errors: '' });
    const file = new CredentialStore(env).fileOf(HOST);
    expect(file).toBe(join(home, '.config/cadastre/credentials/cadastre.test%3A8443.json'));
    expect([await modeOf(file), await modeOf(dirname(file))]).toEqual(['600', '700']);
  });

  it('keeps other members, replaces a token, and leaves no other files', async () => {
    await run(['store', HOST], '{"token":"old"}');
    await run(['store', HOST], '{"token":"new","scope":["all"]}');
    expect(JSON.parse((await run(['get', HOST])).output)).toEqual({ token: 'new', scope: ['all'] });
    expect(await readdir(dirname(new CredentialStore(env).fileOf(HOST)))).toHaveLength(1);
  });

  it('replaces a file that others could read by one that they cannot', async () => {
    const file = new CredentialStore(env).fileOf(HOST);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{"token":"old"}', { mode: 0o644 });
    await run(['store', HOST], '{"token":"new"}');
    expect(await modeOf(file)).toBe('600');
  });

  it('returns an empty object for a host without a token, and forgets it without an error', async () => {
    expect(await run(['get', HOST])).toEqual({ code: 0, output: '{}\n', errors: '' });
    expect(await run(['forget', HOST])).toEqual({ code: 0, output: '', errors: '' });
  });

  it('uses the folder of XDG_CONFIG_HOME', async () => {
    env = { HOME: '/nonexistent', XDG_CONFIG_HOME: home };
    await run(['store', HOST], '{"token":"of ada"}');
    expect(await readFile(join(home, 'cadastre/credentials/cadastre.test%3A8443.json'), 'utf8')).toContain('of ada');
  });

  it('deletes the token, and says that it is still valid, while the server cannot be reached', async () => {
    await run(['store', 'localhost:1'], '{"token":"of ada"}');
    const { code, errors } = await run(['forget', 'localhost:1']);
    expect([code, errors]).toEqual([1, expect.stringContaining('stays valid until its end')]);
    expect(errors).toContain('https://localhost:1/app/~account/tokens');
    expect(errors).not.toContain('of ada');
    expect((await run(['get', 'localhost:1'])).output).toBe('{}\n');
  });

  it.each([
    ['no JSON', 'token'],
    ['no object', '"token"'],
    ['no token', '{}'],
    ['a token that is no text', '{"token":7}'],
    ['a very long text', `{"token":"${'a'.repeat(64 * 1024)}"}`],
  ])('stores nothing for %s', async (_, input) => {
    expect(await run(['store', HOST], input)).toMatchObject({ code: 1, errors: expect.stringContaining('a token') });
    expect((await run(['get', HOST])).output).toBe('{}\n');
  });

  it('names a file that is damaged', async () => {
    const file = new CredentialStore(env).fileOf(HOST);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'no JSON');
    expect(await run(['get', HOST])).toMatchObject({ code: 1, errors: expect.stringContaining(file) });
  });

  it.each([[[]], [['get']], [['get', HOST, 'more']], [['list', HOST]], [['toString', HOST]]])(
    'explains its arguments: %j',
    async (args) => {
      expect(await run(args)).toMatchObject({ code: 1, errors: expect.stringContaining('Usage:') });
    },
  );

  it.each([
    ['../other'],
    ['https://cadastre.test'],
    ['user@cadastre.test'],
    ['cadastre.test/path'],
    ['cadastre.test:x'],
  ])('refuses a host that is none: %s', async (host) => {
    expect(await run(['get', host])).toMatchObject({ code: 1, errors: expect.stringContaining('HOST: must be') });
  });

  it('shows its help', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('credentials_helper') });
  });
});

describe('isHost', () => {
  it.each(['localhost', 'localhost:8443', 'cadastre.example.com', 'xn--bcher-kva.example:1', '127.0.0.1:8443'])(
    'accepts %s',
    (host) => expect(isHost(host)).toBe(true),
  );

  it.each(['', ':8443', 'a..b', '-a.test', `${'a'.repeat(254)}`, 'a b', 'a.test:123456', 'A.test'])(
    'refuses %j',
    (host) => expect(isHost(host)).toBe(false),
  );
});
