import { decodeDecimal, decodeDigest } from './strict-base64.js';
import { EMPTY_ROOT } from './merkle-tree.js';

/** A state of a log: how many leaves it has, and the root of their tree (C2SP tlog-checkpoint). */
export type LogCheckpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
};

/** Returns the text of a checkpoint, which `signNote` signs. */
export const formatCheckpoint = ({ origin, size, root }: LogCheckpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;

/**
 * Returns the checkpoint in the text of a note. Ignores lines below the root, which are extensions. Throws RangeError for
 * another text.
 */
export const parseCheckpoint = (text: string): LogCheckpoint => {
  const [origin, sizeText, rootText, ...rest] = text.split('\n');
  const size = decodeDecimal(sizeText ?? '');
  const root = decodeDigest(rootText ?? '');
  const extensions = rest.slice(0, -1);
  if (!origin || size === null || !root || rest.at(-1) !== '' || extensions.includes('')) {
    throw new RangeError('must be a checkpoint: lines with the origin, the size and the root in base64');
  }
  if (size === 0 && !root.equals(EMPTY_ROOT)) throw new RangeError('a checkpoint of size 0 must have the empty root');
  return { origin, size, root };
};
