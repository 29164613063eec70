/* Search parameters in the address: plain texts, and lists as repeated parameters. */

export type SearchParams = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns a text for a parameter that occurs once, and a list for a repeated one. */
export const parseSearch = (search: string): SearchParams => {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
};

/** Returns the search of an address with its `?`, or nothing. */
export const formatSearch = (search: Readonly<Record<string, unknown>>): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const each of [value].flat()) if (typeof each === 'string' && each !== '') parameters.append(name, each);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
};

/** Returns a list, also for a parameter that occurs once. */
export const toList = (value: unknown): readonly string[] =>
  [value ?? []].flat().filter((each): each is string => typeof each === 'string' && each !== '');

/** Returns a text that is not empty. */
export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
