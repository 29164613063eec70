import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createMemoryTree } from '../../../test/support/memory-tree.js';
import { createSampleLog, formatSampleProof, signSampleCheckpoint } from '../../../test/support/trail-log.js';
import { startTestWitness } from '../../../test/support/test-witness.js';
import { verifyProof } from './proof-verification.js';
import { parseVerifierKey } from './verifier-keys.js';
import { formatCheckpoint, parseCheckpoint } from './checkpoints.js';
import { computeRoot, hashLeaf, proveInclusion } from './merkle-tree.js';
import { signNote, splitNote } from './notes.js';
import { formatProof } from './proof-files.js';
import { openWebCheckpoint } from './web/checkpoints.js';
import {
  computeCheckpointDigest,
  isEd25519Supported,
  parseWebVerifierKey,
  verifyWebProof,
  verifyWebSiteProof,
  type WebProofStep,
} from './web/index.js';

const toBytes = (entry: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(entry));

const LOG = createSampleLog(13);

type Verdict = { readonly index: number } | { readonly problem: string; readonly message: string };

const describeError = ({ problem, message }: { readonly problem: string; readonly message: string }): Verdict => ({
  problem,
  message,
});

const verifyWithNode = (proof: string, entry: Uint8Array, key: string): Verdict => {
  try {
    return { index: verifyProof(proof, { keys: [parseVerifierKey(key)], entry }).index };
  } catch (error) {
    return describeError(error as Parameters<typeof describeError>[0]);
  }
};

const verifyWithWeb = async (proof: string, entry: Uint8Array, key: string): Promise<Verdict> => {
  try {
    return { index: (await verifyWebProof(proof, entry, [await parseWebVerifierKey(key)])).index };
  } catch (error) {
    return describeError(error as Parameters<typeof describeError>[0]);
  }
};

describe('the verifier for browsers', () => {
  it('verifies a proof, and says what it has verified', async () => {
    const { entry } = LOG.entries[5] as (typeof LOG.entries)[number];
    const key = await parseWebVerifierKey(LOG.verifierKey);
    expect(await isEd25519Supported()).toBe(true);
    expect(await verifyWebProof(await formatSampleProof(LOG, 5), toBytes(entry), [key])).toEqual({
      checkpoint: expect.objectContaining({
        origin: LOG.origin,
        size: 13,
        signatures: [{ key, time: null }],
      }) as unknown,
      index: 5,
      revealed: 2,
      withheld: 0,
      hashes: 4,
    });
  });

  it('agrees with the verifier for Node about each entry, and each proof with a changed character', async () => {
    const proofs = await Promise.all(LOG.entries.map((_, index) => formatSampleProof(LOG, index)));
    const entries = fc.nat(LOG.entries.length - 1);
    const change = fc.record({ index: entries, of: entries, at: fc.nat(), character: fc.constantFrom('A', '1', '\n') });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(change, fc.boolean(), async ({ index, of, at, character }, isChanged) => {
        const proof = proofs[index] as string;
        const position = at % proof.length;
        const text = isChanged ? proof.slice(0, position) + character + proof.slice(position + 1) : proof;
        const entry = toBytes(LOG.entries[isChanged ? index : of]?.entry);
        const verdict = await verifyWithWeb(text, entry, LOG.verifierKey);
        accepted += 'index' in verdict ? 1 : 0;
        expect(verdict).toEqual(verifyWithNode(text, entry, LOG.verifierKey));
        expect('index' in verdict).toBe(text === proof && (isChanged || index === of));
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it('refuses another key, a key with another id, and a proof that does not open its leaf', async () => {
    const entry = toBytes(LOG.entries[3]?.entry);
    const proof = await formatSampleProof(LOG, 3);
    const other = createSampleLog(1).verifierKey;
    expect(await verifyWithWeb(proof, entry, other)).toEqual(verifyWithNode(proof, entry, other));
    expect(await verifyWithWeb(proof, entry, other)).toMatchObject({ problem: 'signature' });
    const wrongId = LOG.verifierKey.replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    await expect(parseWebVerifierKey(wrongId)).rejects.toThrow('the id of this verifier key is');
    expect(await verifyWithWeb(proof.replace(/^extra .*\n/m, ''), entry, LOG.verifierKey)).toEqual({
      problem: 'malformed',
      message: 'the proof does not open the leaf of an entry',
    });
  });

  it('verifies the cosignatures of witnesses, with their times', async () => {
    const witness = await startTestWitness('witness.example.com/w1');
    const checkpoint = (await formatSampleProof(LOG, 0)).split('\n\n').slice(1).join('\n\n');
    const cosigned = checkpoint + witness.cosign(checkpoint).body;
    await witness.close();
    const keys = await Promise.all([LOG.verifierKey, witness.verifierKey].map(parseWebVerifierKey));
    const { signatures } = await openWebCheckpoint(cosigned, keys, 'the checkpoint');
    expect(signatures.map(({ key, time }) => [key.name, time === null])).toEqual([
      [LOG.origin, true],
      ['witness.example.com/w1', false],
    ]);
    const changed = cosigned.replace(/(w1 .{20})(.)/, (_, start: string, last) => start + (last === 'A' ? 'B' : 'A'));
    await expect(openWebCheckpoint(changed, keys, 'the checkpoint')).rejects.toMatchObject({ problem: 'signature' });
  });

  it('names the step in which it fails', async () => {
    const key = await parseWebVerifierKey(LOG.verifierKey);
    const proof = await formatSampleProof(LOG, 3);
    const findStep = async (text: string, entry: unknown): Promise<WebProofStep | undefined> => {
      const steps: WebProofStep[] = [];
      await verifyWebProof(text, toBytes(entry), [key], (step) => steps.push(step)).catch(() => steps.push('format'));
      return steps.at(-2);
    };
    const entry = LOG.entries[3]?.entry as { readonly auth: object };
    expect(await findStep(proof.replace('index', 'place'), entry)).toBe('format');
    expect(await findStep(proof.replace(/\n13\n/, '\n14\n'), entry)).toBe('signature');
    expect(await findStep(proof, { ...entry, auth: { ...entry.auth, description: 'eve' } })).toBe('leaf');
    expect(await findStep(proof, { ...entry, version: '1' })).toBe('inclusion');
  });
});

describe('the proof of the log of the site', () => {
  const emptySite = createSampleLog(0, { origin: 'cadastre.example.com/audit-trail-log' });
  const { size, root, origin } = { size: 13, root: computeRoot(13, LOG.source), origin: LOG.origin };

  const computeLeaf = async (name = origin): Promise<Buffer> => {
    const text = formatCheckpoint({ origin, size, root: await root });
    return Buffer.concat([hash('sha256', name, 'buffer'), hash('sha256', text, 'buffer')]);
  };

  const proveSite = async (leaves: readonly Buffer[], index = 1): Promise<string> => {
    const source = createMemoryTree(leaves.map(hashLeaf));
    const text = formatCheckpoint({
      origin: emptySite.origin,
      size: leaves.length,
      root: await computeRoot(leaves.length, source),
    });
    const checkpoint = signNote(text, [{ ...emptySite, name: emptySite.origin }]);
    const proof = await proveInclusion(index, leaves.length, source);
    return formatProof({ index, proof, checkpoint, extra: null });
  };

  it('shows that the log of the site has the checkpoint of another log', async () => {
    const keys = [await parseWebVerifierKey(emptySite.verifierKey)];
    const checkpoint = { origin, size, root: Uint8Array.from(await root) };
    const others = [Buffer.alloc(64, 1), Buffer.alloc(64, 2)];
    const [first, second] = others as [Buffer, Buffer];
    const proof = await proveSite([first, await computeLeaf(), second]);
    expect(await verifyWebSiteProof(proof, checkpoint, keys)).toMatchObject({ origin: emptySite.origin, size: 3 });
    expect(parseCheckpoint(splitNote(await signSampleCheckpoint(LOG)).text)).toMatchObject({ origin, size });
    expect(await computeCheckpointDigest(checkpoint)).toBe((await computeLeaf()).toString('hex', 32));
    for (const [problem, text] of [
      ['split-view', await proveSite([first, second, await computeLeaf()])],
      ['split-view', await proveSite([first, await computeLeaf('cadastre.example.com/org-other'), second])],
      ['split-view', proof.replace('index 1', 'index 2')],
      ['split-view', proof.replace('index 1', 'index 3')],
      ['signature', proof.replace(/\n3\n/, '\n4\n')],
      ['malformed', proof.replace('index', 'place')],
    ] as const) {
      await expect(verifyWebSiteProof(text, checkpoint, keys)).rejects.toMatchObject({ problem });
    }
    const logKeys = [await parseWebVerifierKey(LOG.verifierKey)];
    await expect(verifyWebSiteProof(proof, checkpoint, logKeys)).rejects.toMatchObject({ problem: 'signature' });
    await expect(verifyWebSiteProof(proof, { ...checkpoint, size: 12 }, keys)).rejects.toMatchObject({
      problem: 'split-view',
    });
  });
});
