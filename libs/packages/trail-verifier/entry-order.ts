import { TrailAlteredError } from './trail-errors.js';

/** An entry whose leaf is not the one that the log has at its place. */
export type MisplacedEntry = {
  /** Index of the place, which is behind the entry before. */
  readonly index: number;
  /** Index that the file names. */
  readonly claimed: number;
  /** Where in the file it is, such as `line 13`. */
  readonly place: string;
  /** Returns whether the log has this entry at another index. */
  readonly isAt: (index: number) => Promise<boolean> | boolean;
  /** Returns whether the log has the entry behind this one at an index. */
  readonly isNextAt: (index: number) => Promise<boolean> | boolean;
};

/** How far from its place an entry is searched. */
const SEARCH_DISTANCE = 256;

/** Returns what happened to the entries at a place. */
export const explainMisplacedEntry = async (entry: MisplacedEntry): Promise<TrailAlteredError> => {
  const { index, place } = entry;
  const found = await findIndex(entry);
  const isNextHere = await entry.isNextAt(index);
  if (found === null && isNextHere) {
    return new TrailAlteredError(
      'inserted',
      `${place}: this entry is not in the log; it was inserted before entry ${index}`,
      index,
    );
  }
  if (found === null) return new TrailAlteredError('altered', `${place}: entry ${index} was altered`, index);
  if (found < index) {
    return new TrailAlteredError(
      'moved',
      `${place}: entry ${found} is at the place of entry ${index}; it was moved or repeated`,
      index,
    );
  }
  if (isNextHere) {
    return new TrailAlteredError('moved', `${place}: entry ${found} was moved before entry ${index}`, index);
  }
  return createRemovedError(index, found - 1, place);
};

/** Returns the error for entries that are not in the file. */
export const createRemovedError = (first: number, last: number, place: string): TrailAlteredError =>
  new TrailAlteredError(
    'removed',
    first === last ? `${place}: entry ${first} was removed` : `${place}: entries ${first} to ${last} were removed`,
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
