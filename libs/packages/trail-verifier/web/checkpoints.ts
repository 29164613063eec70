import {
  checkOriginSigned,
  explainCheckpointError,
  parseCheckpointText,
  type CheckpointText,
} from '../formats/checkpoints.js';
import { readCosignatureTime } from '../formats/keys.js';
import { createWrongSignatureError, matchNote } from '../formats/notes.js';
import { verifyWebSignature, type WebVerifierKey } from './keys.js';

/** A checkpoint whose signatures were verified. */
export type WebCheckpoint = CheckpointText & {
  /** The signatures of known keys, with the time of those of witnesses. */
  readonly signatures: readonly { readonly key: WebVerifierKey; readonly time: Date | null }[];
};

/**
 * Returns the checkpoint in a signed note. Throws TrailAlteredError unless the log with the origin of the checkpoint has signed
 * it with one of the keys. `name` is how messages call the note.
 */
export const openWebCheckpoint = async (
  note: string,
  keys: readonly WebVerifierKey[],
  name: string,
): Promise<WebCheckpoint> => {
  try {
    const { text, matches } = matchNote(note, keys);
    for (const { key, signature } of matches) {
      if (!(await verifyWebSignature(key, text, signature))) throw createWrongSignatureError(key);
    }
    const checkpoint = parseCheckpointText(text);
    checkOriginSigned(
      checkpoint,
      matches.map(({ key }) => key),
      name,
    );
    const times = new Map(matches.map(({ key, signature }) => [key, readCosignatureTime(key.type, signature)]));
    return { ...checkpoint, signatures: [...times].map(([key, time]) => ({ key, time })) };
  } catch (error) {
    throw explainCheckpointError(error, name);
  }
};
