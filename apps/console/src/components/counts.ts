/** Returns a number with its noun, such as `1 entry` or `2,000 entries`. `many`: the plural, if it is not `one` with an s. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;
