/** Shorter secrets are not masked: they occur in too many words. */
const MIN_SECRET_LENGTH = 4;
/** Lines of a secret with several lines are masked by themselves, except short ones such as `}`. */
const MIN_LINE_LENGTH = 8;
/** The shortest secret has so many characters in each alignment. */
const MIN_ENCODED_LENGTH = 4;

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Go escapes these characters in JSON, too. */
const escapeGoJson = (text: string): string =>
  escapeJson(text).replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The text in a string of the configuration language, as terraform shows values. */
const escapeHcl = (text: string): string => escapeJson(text).replaceAll(/[$%](?=\{)/g, '$&$&');

/**
 * Base64 of the secret inside a longer text depends on the bytes before it, of which there are 0, 1 or 2 in a group of
 * three. Returns the characters that depend on the secret alone.
 */
const listBase64Forms = (text: string): readonly string[] => {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isWhole = (before + bytes.length) % 3 === 0;
    // The first characters depend on what is before, the last one on what follows.
    const inner = encoded.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
};

const listLines = (secret: string): readonly string[] =>
  secret.includes('\n')
    ? secret.split(/\r?\n/).flatMap((line) => (line.trim().length >= MIN_LINE_LENGTH ? [line.trim()] : []))
    : [];

/** A form in which a secret can occur in the output of a tool. */
export type SecretForm = {
  readonly text: string;
  /** Whether it is base64, where the characters beside it can contain a few bits of the secret. */
  readonly isBase64: boolean;
};

const listTextForms = (text: string): readonly string[] => [
  text,
  escapeJson(text),
  escapeGoJson(text),
  escapeHcl(text),
  // JSON in a JSON string, as in the value of a policy.
  escapeJson(escapeJson(text)),
  escapeJson(escapeHcl(text)),
  encodeUri(text),
];

/** Returns the forms of secrets, the longest first, without those that are too short. */
export const listSecretForms = (secrets: Iterable<string>): readonly SecretForm[] => {
  const texts = [...secrets]
    .flatMap((secret) => [secret, secret.trim(), ...listLines(secret)])
    .filter((text) => text.length >= MIN_SECRET_LENGTH);
  const encoded = texts.flatMap(listBase64Forms).filter((form) => form.length >= MIN_ENCODED_LENGTH);
  return [
    ...[...new Set(texts.flatMap(listTextForms))].map((text) => ({ text, isBase64: false })),
    ...[...new Set(encoded)].map((text) => ({ text, isBase64: true })),
  ].toSorted((a, b) => b.text.length - a.text.length);
};

/** Output is text, but a value of a variable can contain half of a surrogate pair. */
const encodeUri = (text: string): string => encodeURIComponent(text.toWellFormed());

const STRING_LITERAL = /"((?:[^"\\]|\\.)*)"/gs;

/**
 * Returns the secrets in the value of a sensitive variable. A value in the configuration language is a secret as a
 * whole, and so is each of its strings.
 */
export const listSecretsOfHcl = (value: string): readonly string[] => [
  value,
  ...[...value.matchAll(STRING_LITERAL)].flatMap(([literal, inner = '']) => {
    try {
      return [inner, JSON.parse(literal) as string];
    } catch {
      return [inner];
    }
  }),
];
