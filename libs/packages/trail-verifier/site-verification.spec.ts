import { generateKeyPairSync, hash } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createMemoryTree } from '../../../test/support/memory-tree.js';
import {
  createSampleLog,
  formatSampleExport,
  formatSampleProof,
  listSampleLines,
  signSampleCheckpoint,
  writeSampleLog,
} from '../../../test/support/trail-log.js';
import { formatCheckpoint } from './checkpoints.js';
import { KEY_TYPES } from './formats/keys.js';
import { computeRoot, hashLeaf } from './merkle-tree.js';
import { signNote } from './notes.js';
import { runVerifierProgram } from './program.js';
import { createVerifierKey, formatVerifierKey } from './verifier-keys.js';

const log = createSampleLog(300);
const fork = createSampleLog(300, { privateKey: log.privateKey, forkedAt: 100 });
const other = createSampleLog(3, { origin: 'cadastre.example.com/org-2bTkG7aP3cXyWq9d' });
const emptySite = createSampleLog(0, { origin: 'cadastre.example.com/audit-trail-log' });
const witnesses = ['one', 'two', 'three'].map((name) => ({ name, ...generateKeyPairSync('ed25519') }));
type SampleLog = typeof log;

let folder: string;
const at = (name: string): string => join(folder, name);

const createSiteEntry = async ({ origin, source }: SampleLog, size: number): Promise<Buffer> => {
  const text = formatCheckpoint({ origin, size, root: await computeRoot(size, source) });
  return Buffer.concat([hash('sha256', origin, 'buffer'), hash('sha256', text, 'buffer')]);
};

/** Writes a log of the site that has these checkpoints. The witnesses with these names have cosigned it. */
const writeSite = async (
  checkpoints: readonly (readonly [SampleLog, number])[],
  cosigners: readonly string[] = [],
): Promise<void> => {
  await rm(at('site'), { recursive: true, force: true });
  const leaves = await Promise.all(checkpoints.map(([each, size]) => createSiteEntry(each, size)));
  const site = { ...emptySite, leaves, source: createMemoryTree(leaves.map(hashLeaf)) };
  await writeSampleLog(site, at('site'));
  const cosignedAt = new Date('2026-11-29T12:00:00Z');
  const signers = witnesses.filter(({ name }) => cosigners.includes(name)).map((each) => ({ ...each, cosignedAt }));
  const text = formatCheckpoint({ ...site, size: leaves.length, root: await computeRoot(leaves.length, site.source) });
  await writeFile(at('site/checkpoint'), signNote(text, [{ ...site, name: site.origin }, ...signers]));
};

const run = async (...parameters: readonly string[]) => {
  const [output, errors]: [string[], string[]] = [[], []];
  const code = await runVerifierProgram(parameters, {
    print: (line) => void output.push(line),
    printError: (line) => void errors.push(line),
    stdin: (async function* () {})(),
    token: null,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
  });
  return { code, output: output.join('\n'), errors: errors.join('\n') };
};

const keys = ['--key', log.verifierKey, '--key', emptySite.verifierKey];
const verifyWithSite = (file: string, ...options: readonly string[]) =>
  run('verify', at(file), ...keys, '--site', at('site'), ...options);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-site-verification-'));
  const lines = witnesses.map(
    ({ name, publicKey }) =>
      `witness ${name} ${formatVerifierKey(createVerifierKey(name, publicKey, KEY_TYPES.cosignature))}`,
  );
  const quorum = 'group both 2 one two three\nquorum both\n';
  await writeFile(at('policy'), `log ${emptySite.verifierKey}\n${lines.join('\n')}\n${quorum}`);
  const exportLines = await listSampleLines(log);
  await writeFile(at('export.ndjson'), formatSampleExport(await signSampleCheckpoint(log), exportLines));
  await writeFile(at('entry.tlog-proof'), await formatSampleProof(log, 7));
  await writeFile(at('entry.json'), JSON.stringify(log.entries[7]?.entry));
  await writeFile(at('since.checkpoint'), await signSampleCheckpoint(log, 100));
});
beforeEach(() => writeSampleLog(log, at('log')));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('verify --site', () => {
  it('accepts a log whose checkpoints the log of the site has, up to the newest one there', async () => {
    await writeSite([
      [log, 1],
      [other, 3],
      [log, 256],
      [log, 299],
    ]);
    const { code, output } = await verifyWithSite('log');
    expect(output).toContain(
      'site:        has the first 299 entries, and is\n  log:         cadastre.example.com/audit',
    );
    expect(code).toBe(0);
  });

  it('shows which entries an earlier checkpoint of the log of the site covers', async () => {
    await writeSite([
      [log, 1],
      [other, 3],
      [log, 200],
    ]);
    await cp(at('site/checkpoint'), at('stamped'));
    const stamped = ['--site-checkpoint', at('stamped')];
    // The server keeps the tiles of checkpoints that it has signed.
    await cp(at('site'), at('earlier'), { recursive: true });
    await writeSite([
      [log, 1],
      [other, 3],
      [log, 200],
      [log, 299],
    ]);
    await cp(at('earlier/tile'), at('site/tile'), { recursive: true });
    const covered = /^site: {8}has the first (\d+) entries/m;
    expect(covered.exec((await verifyWithSite('log')).output)?.[1]).toBe('299');
    expect(covered.exec((await verifyWithSite('log', ...stamped)).output)?.[1]).toBe('200');
    expect(await verifyWithSite('export.ndjson', ...stamped)).toMatchObject({
      code: 3,
      errors: expect.stringContaining('the checkpoint of 300 entries'),
    });
    await writeSite([
      [log, 1],
      [fork, 120],
      [log, 200],
    ]);
    expect(await verifyWithSite('log', ...stamped)).toMatchObject({ code: 1 });
    expect(await run('verify', at('log'), ...keys, ...stamped)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--site-checkpoint: needs --site'),
    });
  });

  it('names a second history that the log of the site has', async () => {
    await writeSite([
      [log, 99],
      [fork, 100],
      [fork, 101],
      [log, 300],
    ]);
    expect(await verifyWithSite('log')).toMatchObject({
      code: 1,
      // The first hundred entries are those of both histories.
      errors: `NOT VERIFIED (split-view): the log of the site has checkpoints of another history of ${log.origin}: 1`,
    });
    await writeSampleLog(fork, at('log'));
    expect(await verifyWithSite('log')).toMatchObject({ code: 1, errors: expect.stringContaining('split-view') });
  });

  it('ends with 3 if the log of the site has no checkpoint of the log', async () => {
    await writeSite([[other, 3]]);
    const { code, errors } = await verifyWithSite('log');
    expect([code, errors]).toEqual([3, `Could not verify: the log of the site has no checkpoint of ${log.origin}`]);
  });

  it.each([
    ['an export', ['export.ndjson']],
    ['a proof', ['entry.tlog-proof', '--entry', 'entry.json']],
  ])('requires the checkpoint of %s', async (_, [file = '', option, entry = '']) => {
    const options = option === undefined ? [] : [option, at(entry)];
    await writeSite([[log, 300]]);
    expect(await verifyWithSite(file, ...options)).toMatchObject({ code: 0, errors: '' });
    await writeSite([
      [log, 299],
      [fork, 300],
    ]);
    expect(await verifyWithSite(file, ...options)).toMatchObject({
      code: 3,
      errors: expect.stringContaining(`the checkpoint of 300 entries of ${log.origin} is not in the log of the site`),
    });
  });

  it('requires the checkpoint that was kept', async () => {
    await writeSite([
      [log, 100],
      [log, 300],
    ]);
    const since = ['--since', at('since.checkpoint')];
    expect(await verifyWithSite('log', ...since)).toMatchObject({ code: 0 });
    await writeSite([[log, 300]]);
    for (const file of ['log', 'export.ndjson']) {
      expect(await verifyWithSite(file, ...since)).toMatchObject({
        code: 3,
        errors: expect.stringContaining('the checkpoint of 100 entries'),
      });
    }
  });

  it('verifies the log of the site itself', async () => {
    await writeSite([[log, 300]]);
    await writeFile(
      at('site/tile/entries/000.p/1'),
      Buffer.concat([Buffer.of(0, 64), await createSiteEntry(fork, 300)]),
    );
    expect(await verifyWithSite('log')).toMatchObject({ code: 1, errors: expect.stringContaining('altered') });
    await rm(at('site/tile/entries'), { recursive: true });
    expect(await verifyWithSite('log')).toMatchObject({
      code: 3,
      errors: expect.stringContaining('lacks its first 1'),
    });
    await rm(at('site'), { recursive: true });
    expect(await verifyWithSite('log')).toMatchObject({ code: 3 });
    expect(await run('verify', at('log'), ...keys, '--site', at('log'))).toMatchObject({
      code: 3,
      errors: expect.stringContaining('--site: names no log of a site'),
    });
  });
});

describe('--policy', () => {
  const verifyWithPolicy = () =>
    run('verify', at('log'), '--key', log.verifierKey, '--site', at('site'), '--policy', at('policy'));

  it('requires a quorum of cosignatures on the log of the site, and names those that are missing', async () => {
    await writeSite([[log, 300]], ['one', 'three']);
    const { code, output } = await verifyWithPolicy();
    expect(output).toContain('cosigned by  three at 2026-11-29T12:00:00.000Z');
    expect(code).toBe(0);
    await writeSite([[log, 300]], ['three']);
    expect(await verifyWithPolicy()).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/NOT VERIFIED \(signature\): .* no quorum .*; those of one, two are missing/),
    });
  });

  it('applies to the log itself without --site, and to a log that is watched', async () => {
    const policy = ['--policy', at('policy')];
    await writeSite([[log, 300]], ['one', 'two']);
    expect(await run('verify', at('site'), ...policy)).toMatchObject({ code: 0 });
    const watch = () => run('watch', at('site'), ...policy, '--state', at('state'), '--once');
    expect(await watch()).toMatchObject({ code: 0 });
    await writeSite([[log, 300]], ['one']);
    expect(await run('verify', at('site'), ...policy)).toMatchObject({ code: 1 });
    expect(await watch()).toMatchObject({
      code: 1,
      errors: expect.stringContaining('those of two, three are missing'),
    });
  });

  it('is refused with the line that is wrong', async () => {
    await writeFile(at('wrong'), 'witness one x\nquorum one\n');
    expect(await run('verify', at('log'), ...keys, '--policy', at('wrong'))).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^--policy: line 1: /),
    });
  });
});
