import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForTrail } from '#activity/audit-trail';
import { sql } from '#platform/kernel';
import {
  createVerifierKey,
  formatProof,
  formatVerifierKey,
  KEY_TYPES,
  parseProof,
  parseVerifierKey,
  signNote,
  splitNote,
  verifyProof,
} from '#packages/trail-verifier';
import { generateKeyPairSync } from 'node:crypto';
import { createTrailWitnessJob } from '../../libs/activity/audit-trail-log/witnesses/witnesses.job.js';
import { act, createAuditedOrganization } from '../support/audited-organization.js';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { FixedClock } from '../support/clocks.js';
import { inspectScreen, openConsole } from '../support/console.js';
import { runJobOnce } from '../support/scheduled-jobs.js';
import { expectStatus, makeMember } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { startTestWitness, type TestWitness } from '../support/test-witness.js';
import { createTestSigning, tamper } from '../support/trail-signing.js';

const clock = new FixedClock();
let server: TestServer;
let browser: TestBrowser;
let witness: TestWitness;
let sign: () => Promise<number>;
let cosign: () => Promise<number>;
let organization: string;
let workspace: string;
let owner: string;

beforeAll(async () => {
  [server, browser, witness] = await Promise.all([
    startTestServer({ forBrowsers: true, followers: true, clock }),
    openBrowser(),
    startTestWitness('auditor.example.com/witness'),
  ]);
  sign = createTestSigning(server);
  const acme = await createAuditedOrganization(server, 'acme');
  ({ workspace, id: organization } = acme);
  owner = (await makeMember(server, 'acme', 'olga', [acme.ownersTeam])).id;
  const file = join(server.runtime.settings.dataFolder, 'policy');
  await writeFile(file, `witness auditor ${witness.verifierKey} ${witness.url}\nquorum auditor\n`);
  const job = createTrailWitnessJob({ ...server.runtime, database: server.database }, file);
  cosign = () => runJobOnce(job);
});

afterAll(async () => {
  await browser.close();
  await witness.close();
  await server.close();
});

/** Locks the workspace, and returns the id of the entry about that. */
const lock = async (): Promise<string> => {
  await act(server, workspace, 'lock');
  await waitForTrail(server.store, organization);
  const entries = await server.get('/api/v2/organizations/acme/audit-trail?filter[action]=lock&page[size]=1');
  await act(server, workspace, 'unlock');
  return expectStatus(entries, 200).body.data[0].id as string;
};

const openEntry = async (entry: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user: owner, path: `/app/acme/audit-trail?entry=${entry}` });
  await proofOf(page).waitFor();
  return page;
};

const proofOf = (page: TestPage) => page.getByRole('dialog').getByRole('region', { name: 'Proof', exact: true });

const verify = (page: TestPage) => proofOf(page).getByRole('button', { name: 'Verify', exact: true }).click();

/** Returns how the lines of a result begin. */
const listSteps = async (result: ReturnType<TestPage['getByRole']>): Promise<readonly string[]> =>
  (await result.getByRole('listitem').allInnerTexts()).map((line) => line.split(':')[0] ?? '');

const SITE_PROOF = '**/audit-trail-log/checkpoints/*/proof';

const STEPS = ['Signature', 'Leaf', 'Inclusion'];

/** Replaces what the server answers to requests of a page, and returns what the verification then says. */
const verifyAnswers = async (
  page: TestPage,
  path: string,
  change: (text: string) => string | null,
): Promise<readonly string[]> => {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const text = change(await response.text());
    await route.fulfill(text === null ? { status: 503, body: '{"errors":[]}' } : { response, body: text });
  });
  await page.reload();
  await verify(page);
  const result = proofOf(page)
    .getByRole('alert')
    .or(proofOf(page).getByRole('status').filter({ hasText: 'Partly verified in this browser' }));
  await result.waitFor();
  await page.unrouteAll();
  const lines = await result.getByRole('listitem').allInnerTexts();
  return lines.map((line) => (line.startsWith('Passed before: ') ? line.slice(15) : (line.split(':')[0] ?? '')));
};

/** Replaces a character in a line of base64. */
const flip = (text: string, position: number): string =>
  text.slice(0, position) + (text[position] === 'A' ? 'B' : 'A') + text.slice(position + 1);

describe('the proof of an entry', () => {
  it('is not there until a checkpoint contains the entry', async () => {
    const page = await openEntry(await lock());
    await proofOf(page).getByText('No checkpoint contains the entry yet.').waitFor();
    await sign();
    await proofOf(page).getByText('Proved by checkpoint').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is verified in the browser, with the cosignatures of witnesses, and downloaded', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    clock.pass({ minutes: 2 });
    await sign();
    await cosign();
    const page = await openEntry(entry);
    const proof = proofOf(page);
    await proof.getByText('is cosigned by auditor.example.com/witness').waitFor();
    await proof.getByText('These keys come from this server').waitFor();
    await verify(page);
    const result = proof.getByRole('status').filter({ hasText: 'Partly verified in this browser' });
    await result.waitFor();
    expect(await listSteps(result)).toEqual([...STEPS, 'Log of the site', 'Cosignature', 'Not checked', 'Not checked']);
    expect(await inspectScreen(page, 'trail-proof-verified')).toEqual([]);
    const download = page.waitForEvent('download');
    await proof.getByRole('link', { name: 'Download proof' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${entry}.tlog-proof`);
    const keys = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail-log/keys'), 200).text;
    const { data } = expectStatus(await server.get(`/api/v2/organizations/acme/audit-trail/${entry}`), 200).body;
    const options = { keys: [parseVerifierKey(keys.trim())], entry: Buffer.from(JSON.stringify(data)) };
    expect(verifyProof(await readFile(await file.path(), 'utf8'), options).withheld).toBe(0);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is refused with another key, and with text that is no key', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    const page = await openEntry(entry);
    const keys = proofOf(page).getByRole('textbox', { name: 'Verifier keys that you trust' });
    const { publicKey } = generateKeyPairSync('ed25519');
    const [name = ''] = (await keys.inputValue()).split('+');
    await keys.fill(formatVerifierKey(createVerifierKey(name, publicKey)));
    await proofOf(page).getByText('They do not come from this server.').waitFor();
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'no given key has signed' }).waitFor();
    expect(await inspectScreen(page, 'trail-proof-refused')).toEqual([]);
    await keys.fill('ssh-ed25519 AAAA');
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'must be a verifier key of Ed25519' }).waitFor();
    await proofOf(page).getByRole('button', { name: 'Use the keys of the server' }).click();
    await verify(page);
    await proofOf(page).getByText('Partly verified in this browser').waitFor();
    await page.context().close();
  });

  it('names what differs when the entry on the screen is not the one that was recorded', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    const page = await openEntry(entry);
    await page.route(`**/audit-trail/${entry}`, async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace('"action":"lock"', '"action":"unlock"') });
    });
    await page.reload();
    await verify(page);
    await proofOf(page)
      .getByRole('alert')
      .filter({ hasText: /the proof is not of this entry, or entry \d+ was altered/ })
      .waitFor();
    await page.unrouteAll();
    await page.route(`**/audit-trail/${entry}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replace(/"description":"[^"]*"/, '"description":"eve"'),
      });
    });
    await page.reload();
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'the value of /auth/description is not' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('names the step that fails if an answer of the server was changed', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    clock.pass({ minutes: 2 });
    await sign();
    await cosign();
    const page = await openEntry(entry);
    const proof = `**/entries/${entry}/proof`;
    const site = SITE_PROOF;
    const change = (path: string, text: (answer: string) => string | null) => verifyAnswers(page, path, text);
    expect(await change(proof, (text) => text.replace('c2sp.org', 'c2sq.org'))).toEqual(['Proof fails', 'nothing']);
    const size = /\n\n\S+\n(\d+)\n/;
    const growLog = (text: string): string => text.replace(size, (line, n: string) => line.replace(n, `1${n}`));
    expect(await change(proof, growLog)).toEqual(['Signature fails', 'Proof']);
    const rename = (text: string): string => text.replace(/"description":"[^"]*"/, '"description":"x"');
    expect(await change(`**/audit-trail/${entry}`, rename)).toEqual(['Leaf fails', 'Proof, Signature']);
    const unlock = (text: string): string => text.replace('"action":"lock"', '"action":"unlock"');
    expect(await change(`**/audit-trail/${entry}`, unlock)).toEqual(['Inclusion fails', 'Proof, Signature, Leaf']);
    const siteFails = ['Log of the site fails', 'Proof, Signature, Leaf, Inclusion'];
    // A hash of the proof, the size in the checkpoint, and the place.
    expect(await change(site, (text) => flip(text, text.indexOf('\n', text.indexOf('index')) + 5))).toEqual(siteFails);
    expect(await change(site, growLog)).toEqual(siteFails);
    expect(await change(site, (text) => text.replace(/index \d+/, 'index 0'))).toEqual(siteFails);
    const cosignature = /— auditor.*\n/;
    expect(await change(site, (text) => flip(text, text.search(cosignature) + 60))).toEqual(siteFails);
    expect(await change(site, (text) => text.replace(cosignature, ''))).toEqual([
      'Cosignature fails',
      'Proof, Signature, Leaf, Inclusion, Log of the site',
    ]);
    expect(await change(site, () => null)).toEqual([...STEPS, 'Not checked']);
    expect(await change(site, (text) => text)).toContain('Cosignature');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('uses the keys of the log of the site and of witnesses that the person enters', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    clock.pass({ minutes: 2 });
    await sign();
    await cosign();
    const page = await openEntry(entry);
    const keys = proofOf(page).getByRole('textbox', { name: 'Verifier keys that you trust' });
    const own = (await keys.inputValue()).trim();
    const siteKeys = expectStatus(await server.get('/audit-trail-log/keys'), 200).text;
    await keys.fill(`${own}\n${siteKeys}${witness.verifierKey}`);
    await verify(page);
    const result = proofOf(page)
      .getByRole('status')
      .filter({ hasText: /^Verified in this browser/ });
    await result.waitFor();
    expect(await listSteps(result)).toEqual([...STEPS, 'Log of the site', 'Cosignature']);
    for (const status of [404, 503]) {
      await page.route(SITE_PROOF, (route) => route.fulfill({ status, body: '{"errors":[]}' }));
      for (const more of [siteKeys, witness.verifierKey]) {
        await keys.fill(`${own}\n${more}`);
        await verify(page);
        const missing = proofOf(page).getByRole('alert').filter({ hasText: 'Not verified' });
        await missing.filter({ hasText: 'the server does not prove that the log of the site has this' }).waitFor();
      }
      await page.unrouteAll();
    }
    const { publicKey } = generateKeyPairSync('ed25519');
    const stranger = formatVerifierKey(createVerifierKey('stranger.example.com', publicKey, KEY_TYPES.cosignature));
    await keys.fill(`${own}\n${siteKeys}${witness.verifierKey}\n${stranger}`);
    await verify(page);
    await proofOf(page)
      .getByRole('alert')
      .filter({ hasText: 'lacks the cosignature of stranger.example.com' })
      .waitFor();
    const siteName = siteKeys.split('+')[0] ?? '';
    await keys.fill(`${own}\n${formatVerifierKey(createVerifierKey(siteName, publicKey))}`);
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'Log of the site fails' }).waitFor();
    expect(await inspectScreen(page, 'trail-proof-step')).toEqual([]);
    await page.context().close();
  });

  it('lets only a log of the site sign for the log of the site', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    clock.pass({ minutes: 2 });
    await sign();
    await cosign();
    const page = await openEntry(entry);
    const keys = proofOf(page).getByRole('textbox', { name: 'Verifier keys that you trust' });
    const own = (await keys.inputValue()).trim();
    // A former key of the log of the organization, of which the operator has the private key.
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const name = `former.example.com/${organization}`;
    await keys.fill(`${own}\n${formatVerifierKey(createVerifierKey(name, publicKey))}`);
    await verify(page);
    const result = proofOf(page).getByRole('status').filter({ hasText: 'Partly verified in this browser' });
    await result.waitFor();
    expect(await listSteps(result)).toContain('Log of the site');
    await page.route(SITE_PROOF, async (route) => {
      const response = await route.fetch();
      const file = parseProof(await response.text());
      const [, ...lines] = splitNote(file.checkpoint).text.split('\n');
      const checkpoint = signNote([name, ...lines].join('\n'), [{ name, privateKey }]);
      await route.fulfill({ response, body: formatProof({ ...file, checkpoint }) });
    });
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'Log of the site fails' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be verified in a browser without Ed25519, which the panel states', async () => {
    const entry = await lock();
    await waitForTrail(server.store, organization);
    await sign();
    const page = await openEntry(entry);
    await page.evaluate(`crypto.subtle.importKey = () => Promise.reject(new Error('unsupported'))`);
    await verify(page);
    await proofOf(page).getByRole('alert').filter({ hasText: 'cannot verify Ed25519' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the log of a trail', () => {
  it('shows the last checkpoint, its key, the time stamp, and the witnesses with their quorum', async () => {
    await server.database.rows(sql`
      insert into audit_trail.time_stamps (id, origin, size, note, response, authority, policy, stamped_at, stored_at)
      select 'stamp', origin, 1, note, 'response', 'Stamp Authority', '1.2.3', '2026-11-21T12:00:00Z', now()
        from audit_trail.signed_checkpoints where organization = 'site' order by size limit 1`);
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/audit-trail' });
    await page.getByRole('button', { name: 'Proofs' }).click();
    const card = page.getByRole('region', { name: 'Log that proves the trail' });
    await card.getByText('Quorum', { exact: true }).waitFor();
    const [key = ''] = expectStatus(
      await server.get('/api/v2/organizations/acme/audit-trail-log/keys'),
      200,
    ).text.split('\n');
    await card.getByText(key).waitFor();
    await card.getByText('The log of the site was time-stamped by Stamp Authority at').waitFor();
    await card.getByText('up to size 1').waitFor();
    const stamped = await card.getByRole('link', { name: 'stamped checkpoint' }).getAttribute('href');
    expectStatus(await server.get(stamped ?? ''), 200);
    expect(await inspectScreen(page, 'trail-log')).toEqual([]);
    await page.context().close();
  });

  it('names the origins before a restore', async () => {
    await tamper(
      server.database,
      sql`update audit_trail.log_keys set position = position + 1 where organization = ${organization}`,
    );
    await tamper(
      server.database,
      sql`insert into audit_trail.log_keys select organization, 0, 'former.example.com/log', verifier_key, source, created_at
            from audit_trail.log_keys where organization = ${organization} limit 1`,
    );
    await tamper(
      server.database,
      sql`insert into audit_trail.signed_checkpoints (organization, origin, size, root, note, signed_at, position)
          select organization, 'former.example.com/log', 3, root, note, signed_at, -1
            from audit_trail.signed_checkpoints where organization = ${organization} limit 1`,
    );
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/audit-trail' });
    await page.getByRole('button', { name: 'Proofs' }).click();
    const card = page.getByRole('region', { name: 'Log that proves the trail' });
    await card.getByText('The log continues under another origin').waitFor();
    await card.getByText('former.example.com/log').waitFor();
    expect(await inspectScreen(page, 'trail-log-fork')).toEqual([]);
    await page.context().close();
  });
});
