import { unprocessable } from '#kernel';
import { isShasum } from './rules.js';

/** What SHA256SUMS says: the checksum of each file, in lower-case hex, by the file's name. */
export type ChecksumsByFile = Readonly<Record<string, string>>;

const LINE = /^(?<sum>\S+)[ \t]+(?<name>\S.*)$/;
// oxlint-disable-next-line no-control-regex
const NO_NAME = /[/\\\u0000-\u001f\u007f-\u009f]|^\.$|\.\./;

const decodeText = (content: Uint8Array): string => {
  try {
    // A byte order mark is kept, to be refused: clients take it for part of the first checksum.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw unprocessable('SHA256SUMS is not a text in UTF-8');
  }
};

const splitLines = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

const parseEntry = (line: string, at: number): readonly [name: string, sum: string] => {
  const refuse = (what: string) => unprocessable(`Line ${at} of SHA256SUMS ${what}`);
  // Terraform and OpenTofu crash on one: they take the first word of each line.
  if (line.trim() === '') throw refuse('is empty, which clients cannot read');
  const { sum = '', name = '' } = LINE.exec(line.trimEnd())?.groups ?? {};
  if (!isShasum(sum)) throw refuse('is not a SHA-256 checksum, two spaces and the name of a file');
  // Clients take the asterisk for the beginning of the name, and find no checksum for the file.
  if (name.startsWith('*')) throw refuse('has the mark * of sha256sum --binary, which clients cannot read: use --text');
  if (NO_NAME.test(name)) throw refuse('has a path, or characters that no name of a file has');
  return [name, sum.toLowerCase()];
};

/**
 * Reads SHA256SUMS, and refuses what terraform and tofu could not install from (their package_authentication.go): so
 * blank lines and the binary mark, which sha256sum reads, are refused as well. A line may end in CRLF.
 *
 * The texts name the line, and stand without a pointer: the file is an upload, not a body.
 */
export const parseChecksums = (content: Uint8Array): ChecksumsByFile => {
  const sums = new Map<string, string>();
  for (const [index, line] of splitLines(decodeText(content)).entries()) {
    const [name, sum] = parseEntry(line, index + 1);
    if ((sums.get(name) ?? sum) !== sum) {
      throw unprocessable(`Line ${index + 1} of SHA256SUMS has another checksum for ${name} than a line before it`);
    }
    sums.set(name, sum);
  }
  if (sums.size === 0) throw unprocessable('SHA256SUMS is empty');
  return Object.fromEntries(sums);
};

const compareNames = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : Number(left > right);

/** SHA256SUMS as sha256sum writes it, in the order of the names: the same release is always the same text. */
export const formatChecksums = (checksums: ChecksumsByFile): string =>
  Object.entries(checksums)
    .toSorted(compareNames)
    .map(([name, sum]) => `${sum}  ${name}\n`)
    .join('');
