/** The ids of the state versions to compare. */
export type StateComparison = { readonly from?: string; readonly to?: string };

const toId = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads the comparison from the address. */
export const parseStateComparison = ({ from, to }: Readonly<Record<string, unknown>>): StateComparison => ({
  from: toId(from),
  to: toId(to),
});
