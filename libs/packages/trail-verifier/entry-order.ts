import { TrailAlteredError } from './trail-errors.js';

/** An entry whose leaf is not the one that the log has at its place. */
export type MisplacedEntry = {
  /** Index of the place, which is behind the entry before. */
  readonly index: number;
  /** Index that the file names. */
  readonly claimed: number;
  /** Where in the file it is, such as `line 13`. */
  readonly location: string;
  /** Returns whether the log has this entry at another index. */
  readonly isAt: (index: number) => Promise<boolean> | boolean;
  /** Returns whether the log has the entry behind this one at an index. */
  readonly isNextAt: (index: number) => Promise<boolean> | boolean;
};

/** How far from its place an entry is searched. */
const SEARCH_DISTANCE = 256;

/** Returns what happened to the entries at a place. */
export const explainMisplacedEntry = async (entry: MisplacedEntry): Promise<TrailAlteredError> => {
  const { index, location } = entry;
  const position = await findIndex(entry);
  const isNextHere = await entry.isNextAt(index);
  if (position === null && isNextHere) {
    return new TrailAlteredError(
      'inserted',
      `${location}: this entry is not in the log; it was inserted before entry ${index}`,
      index,
    );
  }
  if (position === null) return new TrailAlteredError('altered', `${location}: entry ${index} was altered`, index);
  if (position < index) {
    return new TrailAlteredError(
      'moved',
      `${location}: entry ${position} is at the place of entry ${index}; it was moved or repeated`,
      index,
    );
  }
  if (isNextHere) {
    return new TrailAlteredError('moved', `${location}: entry ${position} was moved before entry ${index}`, index);
  }
  return createRemovedError(index, position - 1, location);
};

/** Returns the error for entries that are not in the file. */
export const createRemovedError = (first: number, last: number, location: string): TrailAlteredError =>
  new TrailAlteredError(
    'removed',
    first === last
      ? `${location}: entry ${first} was removed`
      : `${location}: entries ${first} to ${last} were removed`,
    first,
  );

const findIndex = async ({ index, claimed, isAt }: MisplacedEntry): Promise<number | null> => {
  if (claimed !== index && (await isAt(claimed))) return claimed;
  for (let distance = 1; distance <= SEARCH_DISTANCE; distance += 1) {
    if (await isAt(index + distance)) return index + distance;
    if (index >= distance && (await isAt(index - distance))) return index - distance;
  }
  return null;
};
