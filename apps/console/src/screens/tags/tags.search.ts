/** What the matrix shows. The names are those in the address of the screen. */
export type TagSearch = { readonly name?: string; readonly view?: 'gaps' | 'projects' };

/** Reads the filter of the matrix from the address. It ignores unknown parameters. */
export const parseTagSearch = (search: Readonly<Record<string, unknown>>): TagSearch => {
  const { name, view } = search;
  return {
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
    ...(view === 'gaps' || view === 'projects' ? { view } : {}),
  };
};
