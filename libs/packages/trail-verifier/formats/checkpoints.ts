import { TrailAlteredError } from '../trail-errors.js';
import { areEqual, decodeDecimal, decodeDigest } from './base64.js';
import { KEY_TYPES, type NoteKeyName, type NoteKeyType } from './keys.js';
import { NoteError } from './notes.js';

/** The lines of a checkpoint (C2SP tlog-checkpoint). */
export type CheckpointText = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array<ArrayBuffer>;
};

/** Returns the text of a checkpoint. `root` is in base64. */
export const formatCheckpointText = (origin: string, size: number, root: string): string =>
  `${origin}\n${size}\n${root}\n`;

/** The SHA-256 of nothing, in base64. */
const EMPTY_ROOT = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';

/**
 * Returns the checkpoint in the text of a note. Ignores lines below the root, which are extensions. Throws RangeError for
 * another text.
 */
export const parseCheckpointText = (text: string): CheckpointText => {
  const [origin, sizeText, rootText, ...rest] = text.split('\n');
  const size = decodeDecimal(sizeText ?? '');
  const root = decodeDigest(rootText ?? '');
  const extensions = rest.slice(0, -1);
  if (!origin || size === null || !root || rest.at(-1) !== '' || extensions.includes('')) {
    throw new RangeError('must be a checkpoint: lines with the origin, the size and the root in base64');
  }
  if (size === 0 && !areEqual(root, decodeDigest(EMPTY_ROOT) as Uint8Array)) {
    throw new RangeError('a checkpoint of size 0 must have the empty root');
  }
  return { origin, size, root };
};

/** Throws TrailAlteredError unless the log with the origin of the checkpoint has signed. `name` is how messages call it. */
export const checkOriginSigned = (
  { origin }: Pick<CheckpointText, 'origin'>,
  signers: readonly (NoteKeyName & { readonly type: NoteKeyType })[],
  name: string,
): void => {
  if (!signers.some((key) => key.type === KEY_TYPES.ed25519 && key.name === origin)) {
    throw new TrailAlteredError('signature', `${name} is of ${origin}, and no given key of it has signed`);
  }
};

/** Returns the error of a note that is no signed checkpoint. `name` is how messages call the note. */
export const explainCheckpointError = (error: unknown, name: string): unknown => {
  if (error instanceof NoteError && error.problem !== 'malformed') {
    return new TrailAlteredError('signature', `${name}: ${error.message}`);
  }
  if (error instanceof NoteError || error instanceof RangeError) {
    return new TrailAlteredError('malformed', `${name} ${error.message}`);
  }
  return error;
};
