import { hash } from 'node:crypto';
import { computeCommitment, computeLeaf } from '#packages/trail-verifier';
import { HmacKey } from '#platform/encryption';
import type { CommittedEntry, CommittedValue } from './committed-values.renderer.js';

/** Bytes of a salt, a commitment and a leaf. */
export const DIGEST_LENGTH = 32;

/** The leaf of an entry in the log of its trail. `commitments` is null without values, or their commitments in order. */
export type EntryLeaf = { readonly id: string; readonly leaf: Buffer; readonly commitments: Buffer | null };

/**
 * Computes the leaves of one log. All salts derive from keys, so that a replay of the events gives the same leaves: those
 * of personal values from the keys of the people, so that they are deleted with these keys, and all others from the secret
 * of the log.
 */
export class LogSecret {
  private readonly key: HmacKey;

  constructor(secret: Buffer) {
    this.key = new HmacKey(secret);
  }

  computeEntrySalt(id: string): Buffer {
    return this.key.compute(id);
  }

  /** Returns the salt of a value of an entry; null once one of its people has been forgotten. */
  computeSalt(id: string, { pointer, texts }: CommittedValue): Buffer | null {
    // All ids have the same length, so no other id and pointer give the same text.
    const purpose = id + pointer;
    const salts = new Map(texts.map(({ person, computeSalt }) => [person, computeSalt?.(purpose) ?? null]));
    const [first] = salts.values();
    if (first === undefined) return this.key.compute(purpose);
    if (salts.size === 1) return first;
    const all = [...salts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, salt]) => salt);
    return all.includes(null) ? null : hash('sha256', Buffer.concat(all as readonly Buffer[]), 'buffer');
  }

  /**
   * Returns the leaf of an entry. `stored` are the commitments of an earlier leaf of the entry, from which those to erased
   * values are taken. If a person is forgotten before the entry has a leaf, nobody can open the commitment: it is a MAC
   * instead of a hash of a salt and a value.
   */
  computeLeaf({ entry, values }: CommittedEntry, stored: Buffer | null = null): EntryLeaf {
    const { id } = entry;
    const digests = values.map((value, n) => {
      const salt = this.computeSalt(id, value);
      if (salt) return computeCommitment(salt, value.value);
      const digest = stored?.subarray(n * DIGEST_LENGTH, (n + 1) * DIGEST_LENGTH);
      return digest?.length === DIGEST_LENGTH ? digest : this.key.compute(`erased ${id}${value.pointer}`);
    });
    const commitments = Object.fromEntries(values.map(({ pointer }, n) => [pointer, digests[n] as Buffer]));
    const leaf = computeLeaf({ salt: this.computeEntrySalt(id), entry, commitments });
    return { id, leaf, commitments: digests.length === 0 ? null : Buffer.concat(digests) };
  }
}
