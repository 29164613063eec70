/* Search parameters in the address: plain texts, and lists as repeated parameters. */

type SearchParams = Readonly<Record<string, string | readonly string[] | undefined>>;

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

/**
 * Returns the validation of a route. The router adds the result to the parameters in the address, so this function makes
 * every parameter undefined that `parse` leaves out.
 */
export const dropRejected =
  <T extends object>(parse: (search: Readonly<Record<string, unknown>>) => T) =>
  (search: Readonly<Record<string, unknown>>): T => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...parse(search),
  });

/** Returns a list, also for a parameter that occurs once. */
export const toList = (value: unknown): readonly string[] =>
  [value ?? []].flat().filter((each): each is string => typeof each === 'string' && each !== '');

/** Returns a text that is not empty. */
export const toText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns a time in ISO 8601. */
export const toTime = (value: unknown): string | undefined => {
  const time = new Date(toText(value) ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};
