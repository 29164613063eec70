import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSampleLog, formatSampleProof } from '../../../test/support/trail-log.js';
import { startTestWitness } from '../../../test/support/test-witness.js';
import { verifyProof } from './proof-verification.js';
import { parseVerifierKey } from './verifier-keys.js';
import { isEd25519Supported, openWebCheckpoint, parseWebVerifierKey, verifyWebProof } from './web/index.js';

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
});
