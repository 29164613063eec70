/** Positions of bytes, both included; to the end of the blob where none is named. */
export type ByteRange = { readonly start: number; readonly end?: number };

const SINGLE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/**
 * What a `Range` header asks for of content of this size (RFC 9110 §14). Null: all of it, also where the header is
 * malformed, in another unit, or wants several ranges, which a server is free to ignore. Unsatisfiable: 416.
 */
export const parseRangeHeader = (
  header: string | undefined,
  size: number,
): Required<ByteRange> | 'unsatisfiable' | null => {
  const asked = SINGLE_RANGE.exec(header?.trim() ?? '');
  if (!asked) return null;
  const [, from, to, suffix] = asked;
  if (suffix !== undefined) return getSuffixRange(Number(suffix), size);
  const start = Number(from);
  const end = to ? Number(to) : Infinity;
  if (end < start) return null;
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable';
};

const getSuffixRange = (count: number, size: number): Required<ByteRange> | 'unsatisfiable' | null => {
  if (count === 0) return 'unsatisfiable';
  // Of nothing the last bytes are nothing, for which there is no range.
  return size === 0 ? null : { start: Math.max(0, size - count), end: size - 1 };
};

/** A range that has begun within the content ends there too. Whoever asks knows the size: another range is our fault. */
export const clampRange = ({ start, end = Infinity }: ByteRange, size: number): Required<ByteRange> => {
  if (start < 0 || start >= size || end < start) {
    throw new RangeError(`bytes ${start} to ${end} are no range of a blob of ${size} bytes`);
  }
  return { start, end: Math.min(end, size - 1) };
};
