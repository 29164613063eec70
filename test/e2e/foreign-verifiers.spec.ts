import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openLog, parseVerifierKey, TrailAlteredError, verifyLog } from '#packages/trail-verifier';
import { buildForeignVerifiers, succeeds, type ForeignVerifiers } from '../support/foreign-verifiers.js';
import { createSampleLog, formatSampleProof, signSampleCheckpoint, writeSampleLog } from '../support/trail-log.js';

const BUILD_TIMEOUT_MS = 600_000;

const log = createSampleLog(700);
const fork = createSampleLog(700, { privateKey: log.privateKey, forkedAt: 300 });
/** Bytes of an entry in a bundle: its length and the leaf. */
const ENTRY = 34;

let verifiers: ForeignVerifiers;
let folder: string;
let key: string;

beforeAll(async () => {
  verifiers = await buildForeignVerifiers();
  folder = await mkdtemp(join(tmpdir(), 'cadastre-foreign-'));
  key = await write('log.vkey', log.verifierKey);
}, BUILD_TIMEOUT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

const write = async (name: string, content: string | Uint8Array): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

type Verdicts = { readonly cadastre: boolean; readonly libraries: boolean; readonly fsck: boolean };

/** Returns which programs verify the log in the folder. */
const verify = async (verifierKey = log.verifierKey, keyFile = key): Promise<Verdicts> => {
  const logFolder = join(folder, 'log');
  const own = async (): Promise<boolean> => {
    try {
      await verifyLog(openLog(logFolder, null), { keys: [parseVerifierKey(verifierKey)] });
      return true;
    } catch (error) {
      if (error instanceof TrailAlteredError) return false;
      throw error;
    }
  };
  const url = `--storage_url=file://${logFolder}/`;
  const [cadastre, libraries, fsck] = await Promise.all([
    own(),
    succeeds(verifiers.libraries, 'log', logFolder, verifierKey),
    succeeds(verifiers.fsck, url, `--public_key=${keyFile}`, '--ui=false', '--N=2'),
  ]);
  return { cadastre, libraries, fsck };
};

const VERIFIED: Verdicts = { cadastre: true, libraries: true, fsck: true };
const REFUSED: Verdicts = { cadastre: false, libraries: false, fsck: false };

describe('programs of others', () => {
  it.each([1, 2, 255, 256, 257, 512, 700])('verify a log of %i entries', async (size) => {
    await rm(join(folder, 'log'), { recursive: true, force: true });
    await writeSampleLog(log, join(folder, 'log'), size);
    expect(await verify()).toEqual(VERIFIED);
  });

  it.each<[string, string, (bytes: Buffer) => Uint8Array]>([
    ['a flipped byte of an entry', 'tile/entries/001', (bytes) => bytes.fill((bytes[400] ?? 0) ^ 1, 400, 401)],
    ['a flipped byte of a hash', 'tile/0/001', (bytes) => bytes.fill((bytes[400] ?? 0) ^ 1, 400, 401)],
    [
      'a removed entry',
      'tile/entries/001',
      (bytes) => Buffer.concat([bytes.subarray(0, ENTRY), bytes.subarray(2 * ENTRY)]),
    ],
    [
      'an inserted entry',
      'tile/entries/001',
      (bytes) => Buffer.concat([bytes.subarray(0, ENTRY), Buffer.from([0, 2, 1, 2]), bytes.subarray(ENTRY)]),
    ],
    [
      'a moved entry',
      'tile/entries/001',
      (bytes) => Buffer.concat([bytes.subarray(ENTRY, 2 * ENTRY), bytes.subarray(0, ENTRY), bytes.subarray(2 * ENTRY)]),
    ],
  ])('refuse a log with %s', async (_, path, change) => {
    await writeSampleLog(log, join(folder, 'log'));
    await write(`log/${path}`, change(await readFile(join(folder, 'log', path))));
    expect(await verify()).toEqual(REFUSED);
  });

  it('refuse a log with another key', async () => {
    await writeSampleLog(log, join(folder, 'log'));
    const other = createSampleLog(1).verifierKey;
    expect(await verify(other, await write('other.vkey', other))).toEqual(REFUSED);
  });

  it('refuse a second history under the checkpoint of the first', async () => {
    await writeSampleLog(fork, join(folder, 'log'));
    await write('log/checkpoint', await signSampleCheckpoint(log));
    expect(await verify()).toEqual(REFUSED);
  });

  it('refuse a second history with a valid signature, if an earlier checkpoint was kept', async () => {
    const earlier = await write('earlier.checkpoint', await signSampleCheckpoint(log, 400));
    await writeSampleLog(log, join(folder, 'log'));
    expect(await succeeds(verifiers.libraries, 'log', join(folder, 'log'), log.verifierKey, earlier)).toBe(true);
    await writeSampleLog(fork, join(folder, 'log'));
    expect(await verify()).toEqual(VERIFIED);
    expect(await succeeds(verifiers.libraries, 'log', join(folder, 'log'), log.verifierKey, earlier)).toBe(false);
  });

  it('verify the proof of one entry, and refuse it for another', async () => {
    const proof = await write('77.tlog-proof', await formatSampleProof(log, 77));
    const leaf = await write('77.leaf', log.leaves[77] ?? '');
    const other = await write('78.leaf', log.leaves[78] ?? '');
    expect(await succeeds(verifiers.libraries, 'proof', proof, log.verifierKey, leaf)).toBe(true);
    expect(await succeeds(verifiers.libraries, 'proof', proof, log.verifierKey, other)).toBe(false);
    expect(await succeeds(verifiers.libraries, 'proof', proof, createSampleLog(1).verifierKey, leaf)).toBe(false);
  });
});
