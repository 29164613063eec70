import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatChecksums, parseChecksums } from './index.js';

const SUM = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ZIP = 'terraform-provider-scaffold_1.0.0_linux_amd64.zip';

const parse = (text: string | Uint8Array) => parseChecksums(Buffer.from(text));
const sum = fc.stringMatching(/^[0-9a-f]{64}$/);
const filename = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_+-]{0,40}(?:\.[a-z0-9]{1,8})?$/);

describe('SHA256SUMS', () => {
  it('is parsed into checksums by file name', () => {
    const otherSum = SUM.replaceAll('e', 'f');
    expect(parse(`${SUM}  ${ZIP}\n${otherSum}  manifest.json\n`)).toEqual({ [ZIP]: SUM, 'manifest.json': otherSum });
  });

  it.each([
    ['lines that end in CRLF', `${SUM}  ${ZIP}\r\n`],
    ['no newline at the end', `${SUM}  ${ZIP}`],
    ['one space, or a tab', `${SUM}\t${ZIP}\n`],
    ['space after a name', `${SUM}  ${ZIP}  \n`],
    ['hex in upper case', `${SUM.toUpperCase()}  ${ZIP}\n`],
    ['the same line twice', `${SUM}  ${ZIP}\n${SUM}  ${ZIP}\n`],
  ])('may have %s', (_, text) => {
    expect(parse(text)).toEqual({ [ZIP]: SUM });
  });

  it.each([
    ['no content', '', 'SHA256SUMS is empty'],
    ['an empty line', `${SUM}  ${ZIP}\n\n`, 'Line 2 of SHA256SUMS is empty, which clients cannot read'],
    ['a line without a checksum', `${SUM}  ${ZIP}\nhello\n`, 'Line 2 of SHA256SUMS is not a SHA-256 checksum'],
    ['a checksum of another length', `${SUM}0  ${ZIP}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['a checksum without a file', `${SUM}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['the format of BSD', `SHA256 (${ZIP}) = ${SUM}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['a byte order mark', `\ufeff${SUM}  ${ZIP}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['the binary mark', `${SUM} *${ZIP}\n`, 'Line 1 of SHA256SUMS has the mark * of sha256sum --binary'],
    ['a path', `${SUM}  dist/${ZIP}\n`, 'Line 1 of SHA256SUMS has a path'],
    ['a path of Windows', `${SUM}  dist\\${ZIP}\n`, 'Line 1 of SHA256SUMS has a path'],
    ['a parent folder', `${SUM}  ..\n`, 'Line 1 of SHA256SUMS has a path'],
    ['NUL in a name', `${SUM}  a\u0000b.zip\n`, 'Line 1 of SHA256SUMS has a path'],
    ['an escape sequence in a name', `${SUM}  a\u001b[2Jb.zip\n`, 'Line 1 of SHA256SUMS has a path'],
  ])('is rejected if it has %s', (_, text, refusal) => {
    expect(() => parse(text)).toThrow(refusal);
  });

  it('is rejected if it has two checksums for one file', () => {
    const text = `${SUM}  ${ZIP}\n${SUM.replaceAll('e', 'f')}  ${ZIP}\n`;
    expect(() => parse(text)).toThrow(`Line 2 of SHA256SUMS has another checksum for ${ZIP} than a line before it`);
  });

  it('is rejected if it is not UTF-8', () => {
    expect(() => parse(Buffer.from([0xff, 0xfe, 0x41]))).toThrow('SHA256SUMS is not a text in UTF-8');
  });

  it('is sorted by name when formatted, and parsing returns the same checksums', () => {
    fc.assert(
      fc.property(fc.dictionary(filename, sum, { minKeys: 1, maxKeys: 40 }), (checksums) => {
        const text = formatChecksums(checksums);
        const names = text
          .trimEnd()
          .split('\n')
          .map((line) => line.slice(66));
        expect(names).toEqual(Object.keys(checksums).toSorted());
        expect(parse(text)).toEqual({ ...checksums });
      }),
    );
  });
});
