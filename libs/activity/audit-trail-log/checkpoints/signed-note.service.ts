import {
  createSignedBytes,
  createVerifierKey,
  formatCheckpoint,
  formatNote,
  formatVerifierKey,
  KEY_TYPES,
  type LogCheckpoint,
} from '#packages/trail-verifier';
import type { LogSigningKey } from '../keys/signing-keys.port.js';

/** Returns the text of the verifier key that a log has because of a signing key. */
export const describeKey = (key: LogSigningKey, origin: string): string =>
  formatVerifierKey(createVerifierKey(origin, key.getPublicKey(origin)));

const signText = async (text: string, origin: string, keys: readonly LogSigningKey[]): Promise<string> => {
  const message = createSignedBytes(KEY_TYPES.ed25519, text);
  return formatNote(
    text,
    await Promise.all(
      keys.map(async (key) => ({
        key: createVerifierKey(origin, key.getPublicKey(origin)),
        signature: await key.sign(origin, message),
      })),
    ),
  );
};

/** Returns a checkpoint with the signatures of all keys. */
export const signCheckpoint = (checkpoint: LogCheckpoint, keys: readonly LogSigningKey[]): Promise<string> =>
  signText(formatCheckpoint(checkpoint), checkpoint.origin, keys);

/**
 * Returns a note in which earlier keys name a new one, or only its text if no earlier key is left. The text is no
 * checkpoint, because its second line is no number.
 */
export const announceKey = (verifierKey: string, origin: string, earlier: readonly LogSigningKey[]): Promise<string> =>
  signText(`cadastre-trail-key/v1\n${origin}\n${verifierKey}\n`, origin, earlier);
