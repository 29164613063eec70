import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BUILD } from '../support/folders.js';
import { makeOrganization, makeTeam, makeToken } from '../support/seeds.js';
import { openSite, type CliSite } from './site.js';

// The program that terraform starts, against the built product over TLS.

const LONG = 60_000;

let site: CliSite;
let home: string;

beforeAll(async () => {
  site = await openSite();
  home = await mkdtemp(join(tmpdir(), 'cadastre-helper-'));
}, LONG);

afterAll(async () => {
  await site.product.remove();
  await rm(home, { recursive: true });
});

const run = async (args: readonly string[], { input = '', trusts = true } = {}) => {
  const program = join(BUILD, 'dist/apps/credentials-helper/src/main.js');
  const authority = trusts ? { SSL_CERT_FILE: join(site.product.dataFolder, 'tls/ca.pem') } : {};
  const child = spawn(process.execPath, [program, ...args], { env: { HOME: home, ...authority } });
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output, errors };
};

const store = (token: string) => run(['store', site.host], { input: JSON.stringify({ token }) });
const makeUserToken = async (): Promise<string> => {
  const { id } = (await site.api.get('/api/v2/account/details')).body.data;
  return makeToken(site.api, `/api/v2/users/${id}/authentication-tokens`);
};
const statusOf = async (token: string) => (await site.api.as(token).get('/api/v2/account/details')).status;

describe('the credentials helper', () => {
  it('revokes the token of a person when it forgets it', async () => {
    const token = await makeUserToken();
    expect(await store(token)).toEqual({ code: 0, output: '', errors: '' });
    expect(JSON.parse((await run(['get', site.host])).output)).toEqual({ token });
    expect(await statusOf(token)).toBe(200);
    expect(await run(['forget', site.host])).toEqual({ code: 0, output: '', errors: '' });
    expect(await statusOf(token)).toBe(401);
    expect((await run(['get', site.host])).output).toBe('{}\n');
  });

  it('forgets a token that is revoked already', async () => {
    await store('nobody.atlasv1.unknown');
    expect(await run(['forget', site.host])).toEqual({ code: 0, output: '', errors: '' });
  });

  it('forgets the token of a team, and says that it stays valid', async () => {
    await makeOrganization(site.api, 'acme');
    const team = await makeTeam(site.api, 'acme', 'delivery');
    const token = await makeToken(site.api, `/api/v2/teams/${team}/authentication-token`);
    await store(token);
    const { code, errors } = await run(['forget', site.host]);
    expect([code, errors]).toEqual([1, expect.stringContaining('The token belongs to no person.')]);
    expect(await statusOf(token)).toBe(200);
    expect((await run(['get', site.host])).output).toBe('{}\n');
  });

  it('sends no token to a server whose certificate it does not trust', async () => {
    const token = await makeUserToken();
    await store(token);
    const { code, errors } = await run(['forget', site.host], { trusts: false });
    expect([code, errors]).toEqual([1, expect.stringContaining('certificate')]);
    expect(await statusOf(token)).toBe(200);
  });

  it('sends no token to a server that calls itself otherwise', async () => {
    const token = await makeUserToken();
    const other = site.host.replace('localhost', '127.0.0.1');
    await run(['store', other], { input: JSON.stringify({ token }) });
    const { code, errors } = await run(['forget', other]);
    expect([code, errors]).toEqual([1, expect.stringContaining(`it calls itself "https://${site.host}"`)]);
    expect(await statusOf(token)).toBe(200);
  });
});
