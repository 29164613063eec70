/* Characters that change the direction of the text after them (Unicode UAX 9). In a name, they would reorder the texts beside it. */

/** The character that ends what each character begins. */
const ENDS: Readonly<Record<string, string>> = {
  '\u202A': '\u202C',
  '\u202B': '\u202C',
  '\u202D': '\u202C',
  '\u202E': '\u202C',
  '\u2066': '\u2069',
  '\u2067': '\u2069',
  '\u2068': '\u2069',
};

const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/;

/** Returns the characters that end every direction that the text begins and does not end. */
const findMissingEnds = (text: string): string => {
  const open: string[] = [];
  for (const character of text) {
    const end = ENDS[character];
    if (end !== undefined) open.push(end);
    else if (character === '\u202C' && open.at(-1) === character) open.pop();
    // The end of an isolation also ends what began inside it.
    else if (character === '\u2069' && open.includes(character)) open.length = open.lastIndexOf(character);
  }
  return open.toReversed().join('');
};

/** People read, copy and change these values character by character, each in an element of its own. */
const TYPES_WITH_EXACT_VALUES: ReadonlySet<unknown> = new Set(['vars', 'state-version-outputs']);

/** `type`: the type of the resource that contains the value. */
const endDirectionsIn = (value: unknown, type: unknown): unknown => {
  if (typeof value === 'string') return value + findMissingEnds(value);
  if (Array.isArray(value)) return value.map((each) => endDirectionsIn(each, type));
  if (typeof value !== 'object' || value === null) return value;
  const typeInside = 'type' in value && 'id' in value ? value.type : type;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isExact = name === 'value' && TYPES_WITH_EXACT_VALUES.has(typeInside);
      return [name, isExact ? member : endDirectionsIn(member, typeInside)];
    }),
  );
};

/** Returns the document with texts that end each direction that they begin, so that no text changes the order of its neighbors. */
export const endDirections = <T>(document: T): T =>
  CONTROLS.test(JSON.stringify(document)) ? (endDirectionsIn(document, null) as T) : document;
