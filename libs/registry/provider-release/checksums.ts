import { unprocessable } from '#platform/kernel';
import { isShasum } from './rules.js';

/** Contents of SHA256SUMS: checksums in lower-case hex by file name. */
export type ChecksumsByFile = Readonly<Record<string, string>>;

const LINE = /^(?<sum>\S+)[ \t]+(?<name>\S.*)$/;
// oxlint-disable-next-line no-control-regex
const NO_NAME = /[/\\\u0000-\u001f\u007f-\u009f]|^\.$|\.\./;

const decodeText = (content: Uint8Array): string => {
  try {
    // ignoreBOM keeps a byte order mark, so that it is rejected: clients read it as part of the first checksum.
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
  // Terraform and OpenTofu crash on an empty line, because they use the first word of each line.
  if (line.trim() === '') throw refuse('is empty, which clients cannot read');
  const { sum = '', name = '' } = LINE.exec(line.trimEnd())?.groups ?? {};
  if (!isShasum(sum)) throw refuse('is not a SHA-256 checksum, two spaces and the name of a file');
  // Clients read the asterisk as part of the name, and then find no checksum for the file.
  if (name.startsWith('*')) throw refuse('has the mark * of sha256sum --binary, which clients cannot read: use --text');
  if (NO_NAME.test(name)) throw refuse('has a path, or characters that a file name cannot have');
  return [name, sum.toLowerCase()];
};

/**
 * Parses SHA256SUMS. Rejects content from which terraform and tofu could not install (their package_authentication.go),
 * also blank lines and the binary mark, which sha256sum accepts. A line may end in CRLF.
 *
 * Errors name the line and have no pointer, because the file is an upload and not a JSON body.
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

/** Formats SHA256SUMS like sha256sum, sorted by name, so that the same release always gives the same text. */
export const formatChecksums = (checksums: ChecksumsByFile): string =>
  Object.entries(checksums)
    .toSorted(compareNames)
    .map(([name, sum]) => `${sum}  ${name}\n`)
    .join('');
