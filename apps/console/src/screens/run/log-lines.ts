/* The lines of a log: output of terraform as text with colors, or as lines of JSON with a message each. */

export type LogLine = { readonly text: string; readonly level: 'error' | 'warn' | null };

/** A part of a line with one appearance. */
type LogSpan = { readonly text: string; readonly styles: readonly string[] };

/** Older lines leave the page, and stay in the file. */
export const MAX_LINES = 20_000;

/** Browsers render longer lines slowly. */
const MAX_LINE_LENGTH = 10_000;

type LogObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is LogObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parseObject = (line: string): LogObject | null => {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

const LEVELS: ReadonlySet<unknown> = new Set(['error', 'warn']);

/** terraform writes where a problem is, and how to correct it, beside the message. */
const listDetails = ({ diagnostic }: LogObject): readonly string[] => {
  if (!isObject(diagnostic)) return [];
  const { range, address, detail } = diagnostic;
  const start = isObject(range) && isObject(range['start']) ? `:${String(range['start']['line'])}` : '';
  return [
    ...(isObject(range) ? [`  on ${String(range['filename'])}${start}`] : []),
    ...(typeof address === 'string' && address !== '' ? [`  with ${address}`] : []),
    ...(typeof detail === 'string' && detail !== '' ? detail.split('\n').map((line) => `  ${line}`) : []),
  ];
};

/** Returns the lines that people read for a line of the log. */
const toLines = (line: string): readonly LogLine[] => {
  const object = parseObject(line);
  const message = object?.['@message'];
  // A program shows progress by writing the same line again.
  if (!object || typeof message !== 'string') return [{ text: line.slice(line.lastIndexOf('\r') + 1), level: null }];
  const level = LEVELS.has(object['@level']) ? (object['@level'] as LogLine['level']) : null;
  return [message, ...listDetails(object)].map((text) => ({ text, level }));
};

/** The first and the last byte of a log. */
const START_OF_LOG = 2;
const END_OF_LOG = 3;

/** Returns the output without the marks of its start and its end. */
export const removeMarks = (part: Uint8Array): Uint8Array =>
  part.filter((byte) => byte !== START_OF_LOG && byte !== END_OF_LOG);

/** Decodes a log that arrives in parts. */
export class OutputReader {
  /** The bytes that were read. */
  offset = 0;
  /** Whether the log has ended. */
  isComplete = false;
  private readonly decoder = new TextDecoder();
  private rest = '';

  /** Returns the lines that are complete with this part. */
  push(part: Uint8Array): readonly LogLine[] {
    this.offset += part.length;
    this.isComplete = part.at(-1) === END_OF_LOG;
    const text = this.rest + this.decoder.decode(removeMarks(part), { stream: true });
    const lines = text.split(/\r?\n/);
    this.rest = this.isComplete ? '' : (lines.pop() ?? '');
    return lines.filter((line, index) => index < lines.length - 1 || line !== '' || !this.isComplete).flatMap(toLines);
  }
}

const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

const FLAGS: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline' };

const applyCode = (styles: readonly string[], code: number): readonly string[] => {
  const flag = FLAGS[code];
  if (code === 0) return [];
  if (flag !== undefined) return [...styles, flag];
  if (code === 22) return styles.filter((style) => style !== 'bold' && style !== 'dim');
  const color = code >= 90 ? COLORS[code - 90] : COLORS[code - 30];
  if (color === undefined && code !== 39) return styles;
  const others = styles.filter((style) => !COLORS.includes(style));
  return color === undefined ? others : [...others, color];
};

/** Escape sequences: those for colors and styles with their codes, and all others, which are left out. */
// eslint-disable-next-line no-control-regex
const ESCAPES = /\u001B(?:\[([\d;]*)m|\[[\d;?]*[A-Za-z]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|.)/g;

/** Returns the parts of a line with their appearance. */
export const toSpans = (line: string): readonly LogSpan[] => {
  const spans: LogSpan[] = [];
  let styles: readonly string[] = [];
  let start = 0;
  const text = line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;
  const add = (end: number): void => {
    if (end > start) spans.push({ text: text.slice(start, end), styles });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(match.index);
    start = match.index + match[0].length;
    if (match[1] !== undefined) styles = match[1].split(';').map(Number).reduce(applyCode, styles);
  }
  add(text.length);
  return spans;
};

/** Returns a line without colors. */
export const toPlainText = ({ text }: LogLine): string => text.replaceAll(ESCAPES, '');
