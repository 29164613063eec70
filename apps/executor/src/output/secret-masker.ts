import { listSecretForms } from './secret-forms.js';

export const MASK = '***';

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

/** A string or a number of a JSON text, with the colon if it is the key of a member. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Keys and values of terraform's own format, such as `planned_change`, without which the CLI cannot render a line. */
const STRUCTURE_KEY = /^@?[a-z_]+$/;
const STRUCTURE_VALUE = /^[a-z_]+$/;

/** Replaces secrets in texts, in each form in which tools print them. */
export class SecretMasker {
  private readonly pattern: RegExp | null;
  /** Length of the longest form. */
  readonly longest: number;

  constructor(secrets: Iterable<string>) {
    const forms = [...new Set([...secrets].flatMap(listSecretForms))].toSorted((a, b) => b.length - a.length);
    this.longest = forms[0]?.length ?? 0;
    // A longer secret can contain a shorter one: the first alternative that matches wins.
    this.pattern = forms.length > 0 ? new RegExp(forms.map(escapeRegExp).join('|'), 'g') : null;
  }

  /** Masks a text. */
  maskText(text: string): string {
    return this.pattern ? text.replace(this.pattern, MASK) : text;
  }

  /** Masks a line of output. A line that is a JSON object stays one. */
  maskLine(line: string): string {
    if (!this.pattern) return line;
    return isJsonObject(line) ? this.maskJson(line) : this.maskText(line);
  }

  /** Returns a position at or before `limit` that is inside no secret. */
  findCut(text: string, limit: number): number {
    if (!this.pattern) return limit;
    for (const match of text.matchAll(this.pattern)) {
      if (match.index >= limit) return limit;
      if (match.index + match[0].length > limit) return match.index;
    }
    return limit;
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

const isJsonObject = (line: string): boolean => {
  if (!line.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
};
