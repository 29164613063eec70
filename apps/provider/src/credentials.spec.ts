import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDist, type Dist } from '../../../test/support/release-folders.js';
import { parseServerAddress, findToken } from './credentials.js';

let home: Dist;

beforeAll(async () => {
  home = await makeDist();
  await mkdir(join(home.path, '.terraform.d'));
  const credentials = { 'tfe.example.com': { token: 'of login' } };
  await home.write('.terraform.d/credentials.tfrc.json', JSON.stringify({ credentials }));
  await home.write('token', 'of the file\n');
  await home.write('empty', '\n');
});
afterAll(() => home.remove());

describe('the address of the server', () => {
  it.each([
    ['https://tfe.example.com/', {}, 'https://tfe.example.com/'],
    ['tfe.example.com:8443', {}, 'https://tfe.example.com:8443/'],
    [undefined, { CADASTRE_URL: 'https://one.test', TFE_ADDRESS: 'https://two.test' }, 'https://one.test/'],
    [undefined, { TFE_ADDRESS: 'https://two.test/some/where' }, 'https://two.test/'],
  ])('is read from %s and the variables %j: %s', (option, env, address) => {
    expect(parseServerAddress(option, env).href).toBe(address);
  });

  it.each([
    [undefined, /^--server: missing/],
    ['https://', /must be an address/],
    ['https://me:secret@tfe.example.com', /must not contain a user or a password/],
  ])('is refused: %s', (option, problem) => {
    expect(() => parseServerAddress(option, {})).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringMatching(problem) }),
    );
  });
});

describe('the token', () => {
  const findTokenFor = (env: Readonly<Record<string, string>>, host = 'tfe.example.com', file?: string) =>
    findToken(new URL(`https://${host}`), file && join(home.path, file), { HOME: home.path, ...env });

  it('comes from the file, if an option names one', async () => {
    expect(await findTokenFor({ TFE_TOKEN: 'of the variable' }, 'tfe.example.com', 'token')).toMatchObject({
      secret: 'of the file',
    });
    await expect(findTokenFor({}, 'tfe.example.com', 'empty')).rejects.toMatchObject({ kind: 'usage' });
  });

  it('prefers a host-specific token', async () => {
    const env = { TFE_TOKEN: 'any', TF_TOKEN_tfe_example_com: 'dotted', 'TF_TOKEN_my__tfe_test:8443': 'dashed' };
    expect(await findTokenFor(env)).toEqual({ secret: 'dotted', source: 'TF_TOKEN_tfe_example_com' });
    expect(await findTokenFor(env, 'my-tfe.test:8443')).toMatchObject({ secret: 'dashed' });
    expect(await findTokenFor(env, 'other.test')).toEqual({ secret: 'any', source: 'TFE_TOKEN' });
  });

  it('comes from the credentials of terraform login for the host, and for no other', async () => {
    expect(await findTokenFor({})).toMatchObject({
      secret: 'of login',
      source: expect.stringContaining('credentials.tfrc'),
    });
    await expect(findTokenFor({}, 'other.test')).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(
        /^There is no token for other.test: .* TF_TOKEN_other_test, or run terraform login/,
      ),
    });
  });
});
