/** Entries of a trail from one ordinal to another, both among them; none where `to` is less. */
export type OrdinalRange = { readonly from: number; readonly to: number };

export const getRangeLength = ({ from, to }: OrdinalRange): number => Math.max(0, to - from + 1);

/**
 * The entries of a page, where none is filtered out: ordinals have no gaps, so no entry needs to be counted, nor passed
 * over. Pages are counted down from the end of `pinned`; `newer` ones stand before the first.
 */
export const computePageRange = (
  pinned: OrdinalRange,
  { number, size }: { readonly number: number; readonly size: number },
  newer: number,
): OrdinalRange => {
  const end = pinned.to - (number - 1) * size;
  return { from: Math.max(pinned.from, end - size + 1), to: end + newer };
};
