const isWithin = (lengths: readonly number[], size: number, limit: number): boolean => {
  let sum = 0;
  for (const [n, length] of lengths.entries()) {
    sum = n % size === 0 ? length : sum + length;
    if (sum > limit && size > 1) return false;
  }
  return true;
};

/**
 * The largest page size, up to the one that was asked for, at which no page of the list has more bytes than the limit.
 * One for the whole list: clients count pages, so each of them must be cut at the same places. A single item may be
 * larger than the limit.
 */
export const pageWithin = (lengths: readonly number[], asked: number, limit: number): number => {
  let size = asked;
  while (!isWithin(lengths, size, limit)) size -= 1;
  return size;
};
