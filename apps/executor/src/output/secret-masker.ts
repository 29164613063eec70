import { RunError } from '../executor-error.js';
import { listSecretForms, type SecretForm } from './secret-forms.js';

export const MASK = '***';

/** V8 refuses regular expressions of some megabytes, and a variable can have 256 KiB. */
const MAX_PATTERN_LENGTH = 500;

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

/** The characters of base64 that contain bits of a secret and of what is beside it. */
const EDGE = '[A-Za-z0-9+/_-]?';
const END_EDGE = new RegExp(`^${EDGE}={0,2}`);
/** Characters of both edges. */
const EDGES_LENGTH = 4;

/** A string or a number of a JSON text, with the colon if it is the key of a member. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Keys and values of terraform's own format, such as `planned_change`, without which the CLI cannot render a line. */
const STRUCTURE_KEY = /^@?[a-z_]+$/;
const STRUCTURE_VALUE = /^[a-z_]+$/;

/** Replaces secrets in texts, in each form in which tools print them. */
export class SecretMasker {
  /** Longer forms, the longest first. */
  private readonly longForms: readonly SecretForm[];
  private readonly pattern: RegExp | null;
  /** Length of the longest form. */
  readonly longest: number;

  /** Throws a `RunError` if there are too many secrets. */
  constructor(secrets: Iterable<string>) {
    const forms = listSecretForms(secrets);
    this.longest = forms[0] ? forms[0].text.length + EDGES_LENGTH : 0;
    this.longForms = forms.filter(({ text }) => text.length > MAX_PATTERN_LENGTH);
    this.pattern = compilePattern(forms.slice(this.longForms.length));
  }

  /** Masks a text. */
  maskText(text: string): string {
    let masked = text;
    for (const form of this.longForms) masked = maskForm(masked, form);
    return this.pattern ? masked.replace(this.pattern, MASK) : masked;
  }

  /** Masks a line of output. A line that is a JSON object stays one. */
  maskLine(line: string): string {
    if (this.longest === 0) return line;
    return isJsonObject(line) ? this.maskJson(line) : this.maskText(line);
  }

  /** Returns a position at or before `limit` that is inside no secret. */
  findCut(text: string, limit: number): number {
    const cuts = this.longForms.map(({ text: form }) => {
      // The last occurrence that begins before the limit.
      const start = limit > 0 ? text.lastIndexOf(form, limit - 1) : -1;
      return start >= 0 && start + form.length > limit ? start : limit;
    });
    for (const match of this.pattern === null ? [] : text.matchAll(this.pattern)) {
      if (match.index >= limit) break;
      if (match.index + match[0].length > limit) cuts.push(match.index);
    }
    const cut = Math.min(limit, ...cuts);
    // Secrets can overlap.
    return cut < limit ? this.findCut(text, cut) : limit;
  }

  /** The tokens are masked one by one, because a secret such as `","` would break the JSON. */
  private maskJson(line: string): string {
    let key = '';
    return line.replaceAll(JSON_TOKEN, (token: string, colon: string | undefined) => {
      if (!token.startsWith('"')) return this.maskNumber(token);
      const literal = token.slice(0, token.length - (colon?.length ?? 0));
      const text = JSON.parse(literal) as string;
      if (colon !== undefined) key = text;
      const isStructure = colon === undefined ? key === 'type' && STRUCTURE_VALUE.test(text) : STRUCTURE_KEY.test(text);
      const masked = isStructure ? text : this.maskText(text);
      return masked === text ? token : `${JSON.stringify(masked)}${colon ?? ''}`;
    });
  }

  private maskNumber(token: string): string {
    return this.maskText(token) === token ? token : JSON.stringify(MASK);
  }
}

/** Masks a form that is too long for a pattern. */
const maskForm = (text: string, { text: form, isBase64 }: SecretForm): string => {
  if (text.length < form.length) return text;
  const parts = text.split(form);
  if (!isBase64 || parts.length === 1) return parts.join(MASK);
  const isEdge = (character: string | undefined): boolean => /^[A-Za-z0-9+/_-]$/.test(character ?? '');
  return parts
    .map((part, index) => {
      const rest = index === 0 ? part : part.replace(END_EDGE, '');
      return index < parts.length - 1 && isEdge(rest.at(-1)) ? rest.slice(0, -1) : rest;
    })
    .join(MASK);
};

const toPattern = ({ text, isBase64 }: SecretForm): string =>
  isBase64 ? `${EDGE}${escapeRegExp(text)}${EDGE}={0,2}` : escapeRegExp(text);

/** A longer secret can contain a shorter one: the first alternative that matches wins. */
const compilePattern = (forms: readonly SecretForm[]): RegExp | null => {
  if (forms.length === 0) return null;
  try {
    const pattern = new RegExp(forms.map(toPattern).join('|'), 'g');
    // V8 compiles it at its first use.
    pattern.test('');
    return pattern;
  } catch {
    throw new RunError('The sensitive values of this run are too many to mask them in its log.');
  }
};

const isJsonObject = (line: string): boolean => {
  if (!line.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
};
