/** Entries of an audit trail between two ordinals, both included; empty if `to` is less than `from`. */
export type OrdinalRange = { readonly from: number; readonly to: number };

export const getRangeLength = ({ from, to }: OrdinalRange): number => Math.max(0, to - from + 1);

/**
 * Returns the ordinals of an unfiltered page. Ordinals have no gaps, so no entry has to be counted or skipped. Pages
 * are counted down from the end of `pinned`; `newer` entries precede the first page.
 */
export const computePageRange = (
  pinned: OrdinalRange,
  { number, size }: { readonly number: number; readonly size: number },
  newer: number,
): OrdinalRange => {
  const end = pinned.to - (number - 1) * size;
  return { from: Math.max(pinned.from, end - size + 1), to: end + newer };
};
