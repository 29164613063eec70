import { hash } from 'node:crypto';
import { openNote, splitNote, type Witness } from '#packages/trail-verifier';
import type { OutboundFetch } from '#platform/outbound';

/** Bytes of the largest answer of a witness. */
export const MAX_ANSWER_BYTES = 16_384;

type CheckpointRequest = {
  /** The size of the checkpoint that the witness cosigned last; 0 if it has cosigned none. */
  readonly old: number;
  /** Consistency proof from this size. */
  readonly proof: readonly Buffer[];
  readonly note: string;
};

/** The cosignature lines, or the size that the witness cosigned last by its answer; null if it refuses the proof. */
type WitnessAnswer = { readonly lines: string } | { readonly conflict: number | null };

/** Asks a witness to cosign a checkpoint (C2SP tlog-witness). Throws an error that names the witness. */
export const requestCosignature = async (
  send: OutboundFetch,
  witness: Witness & { readonly url: string },
  { old, proof, note }: CheckpointRequest,
): Promise<WitnessAnswer> => {
  const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
  const body = `old ${old}\n${hashes}\n${note}`;
  const response = await send(`${witness.url}/add-checkpoint`, { method: 'POST', body });
  const text = await response.text();
  if (response.status === 409) return { conflict: parseSize(text, witness) };
  if (response.status === 422) return { conflict: null };
  if (response.status !== 200) throw new Error(`the witness ${witness.name} answered with ${response.status}`);
  return { lines: selectCosignature(note, text, witness) };
};

/** Returns the note with the checkpoint that a witness cosigned last; null if the witness does not serve it. */
export const fetchCosignedCheckpoint = async (
  send: OutboundFetch,
  { name, url }: Witness & { readonly url: string },
  origin: string,
): Promise<string | null> => {
  const response = await send(`${url}/${hash('sha256', origin, 'hex')}/checkpoint`);
  if (response.status === 200) return response.text();
  if (response.status === 404) return null;
  throw new Error(`the witness ${name} answered with ${response.status}`);
};

const parseSize = (text: string, { name }: Witness): number => {
  const size = /^(?:0|[1-9]\d{0,14})\n$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(size)) return size;
  throw new Error(`the witness ${name} answered with 409 without a size`);
};

/** Returns the line of the witness, which signs this note. A witness can send lines of several keys. */
const selectCosignature = (note: string, lines: string, { name, key }: Witness): string => {
  const { text } = splitNote(note);
  for (const line of lines.split('\n').filter((each) => each !== '')) {
    try {
      openNote(`${text}\n${line}\n`, [key]);
      return `${line}\n`;
    } catch {
      // A line of another key, or a wrong one.
    }
  }
  throw new Error(`the witness ${name} answered without a cosignature of its key`);
};
