/** Positions of the first and the last byte. Without `end` the range extends to the end of the blob. */
export type ByteRange = { readonly start: number; readonly end?: number };

const SINGLE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/**
 * Parses a `Range` header for content of this size (RFC 9110 §14). Returns null for the complete content: the header is
 * missing or malformed, has another unit, or lists several ranges, which a server may ignore. `unsatisfiable` means
 * 416.
 */
export const parseRangeHeader = (
  header: string | undefined,
  size: number,
): Required<ByteRange> | 'unsatisfiable' | null => {
  const match = SINGLE_RANGE.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, from, to, suffix] = match;
  if (suffix !== undefined) return getSuffixRange(Number(suffix), size);
  const start = Number(from);
  const end = to ? Number(to) : Infinity;
  if (end < start) return null;
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable';
};

const getSuffixRange = (count: number, size: number): Required<ByteRange> | 'unsatisfiable' | null => {
  if (count === 0) return 'unsatisfiable';
  // An empty blob has no last bytes, so there is no range.
  return size === 0 ? null : { start: Math.max(0, size - count), end: size - 1 };
};

/**
 * Cuts a range at the end of the content. Callers know the size, so a range that begins outside is a fault of the
 * server.
 */
export const clampRange = ({ start, end = Infinity }: ByteRange, size: number): Required<ByteRange> => {
  if (start < 0 || start >= size || end < start) {
    throw new RangeError(`bytes ${start} to ${end} are not within a blob of ${size} bytes`);
  }
  return { start, end: Math.min(end, size - 1) };
};
