import { formatCheckpointText, parseCheckpointText } from './formats/checkpoints.js';

/** A state of a log: how many leaves it has, and the root of their tree (C2SP tlog-checkpoint). */
export type LogCheckpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
};

/** Returns the text of a checkpoint, which `signNote` signs. */
export const formatCheckpoint = ({ origin, size, root }: LogCheckpoint): string =>
  formatCheckpointText(origin, size, root.toString('base64'));

/** Returns the checkpoint in the text of a note. Throws RangeError for another text. */
export const parseCheckpoint = (text: string): LogCheckpoint => {
  const { origin, size, root } = parseCheckpointText(text);
  return { origin, size, root: Buffer.from(root) };
};
