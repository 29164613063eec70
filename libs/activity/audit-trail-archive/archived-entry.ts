import { parsePointer } from '#packages/trail-verifier';

/** An entry with what proves that its leaf contains it. */
type ProvedEntry = {
  readonly index: number;
  readonly entry: unknown;
  readonly salt: Buffer;
  readonly commitments: Readonly<Record<string, Buffer>>;
};

/** Returns the value with null at a JSON pointer, whose names are names of members. */
const maskAt = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
  if (name === undefined) return null;
  const members = value as Readonly<Record<string, unknown>>;
  return { ...members, [name]: maskAt(members[name], rest) };
};

/**
 * Returns an entry as a line of the archive: without personal values and without the salts that would open the commitments
 * to them. Nobody can delete from the archive, so it must contain nothing that must be erasable.
 */
export const formatArchivedEntry = ({ index, entry, salt, commitments }: ProvedEntry): string => {
  const masked = Object.keys(commitments).reduce((value, pointer) => maskAt(value, parsePointer(pointer)), entry);
  return JSON.stringify({
    index,
    entry: masked,
    salt: salt.toString('base64'),
    commitments: Object.fromEntries(
      Object.entries(commitments).map(([pointer, commitment]) => [pointer, commitment.toString('base64')]),
    ),
    salts: {},
  });
};
