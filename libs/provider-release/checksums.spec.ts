import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatChecksums, parseChecksums } from './index.js';

const SUM = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ZIP = 'terraform-provider-scaffold_1.0.0_linux_amd64.zip';

const parse = (text: string | Uint8Array) => parseChecksums(Buffer.from(text));
const sum = fc.stringMatching(/^[0-9a-f]{64}$/);
const filename = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9_+-]{0,40}(?:\.[a-z0-9]{1,8})?$/);

describe('SHA256SUMS', () => {
  it('is the checksum of each file by its name', () => {
    const other = SUM.replaceAll('e', 'f');
    expect(parse(`${SUM}  ${ZIP}\n${other}  manifest.json\n`)).toEqual({ [ZIP]: SUM, 'manifest.json': other });
  });

  it.each([
    ['lines that end in CRLF', `${SUM}  ${ZIP}\r\n`],
    ['no end of the last line', `${SUM}  ${ZIP}`],
    ['one space, or a tab', `${SUM}\t${ZIP}\n`],
    ['space after a name', `${SUM}  ${ZIP}  \n`],
    ['hex in upper case', `${SUM.toUpperCase()}  ${ZIP}\n`],
    ['the same line twice', `${SUM}  ${ZIP}\n${SUM}  ${ZIP}\n`],
  ])('may have %s', (_, text) => {
    expect(parse(text)).toEqual({ [ZIP]: SUM });
  });

  it.each([
    ['nothing in it', '', 'SHA256SUMS is empty'],
    ['an empty line', `${SUM}  ${ZIP}\n\n`, 'Line 2 of SHA256SUMS is empty, which clients cannot read'],
    ['a line that is none', `${SUM}  ${ZIP}\nhello\n`, 'Line 2 of SHA256SUMS is not a SHA-256 checksum'],
    ['a checksum of another length', `${SUM}0  ${ZIP}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['a checksum without a file', `${SUM}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['the form of BSD', `SHA256 (${ZIP}) = ${SUM}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['a byte order mark', `\ufeff${SUM}  ${ZIP}\n`, 'Line 1 of SHA256SUMS is not a SHA-256 checksum'],
    ['the binary mark', `${SUM} *${ZIP}\n`, 'Line 1 of SHA256SUMS has the mark * of sha256sum --binary'],
    ['a path', `${SUM}  dist/${ZIP}\n`, 'Line 1 of SHA256SUMS has a path'],
    ['a path of Windows', `${SUM}  dist\\${ZIP}\n`, 'Line 1 of SHA256SUMS has a path'],
    ['a way up', `${SUM}  ..\n`, 'Line 1 of SHA256SUMS has a path'],
    ['NUL in a name', `${SUM}  a\u0000b.zip\n`, 'Line 1 of SHA256SUMS has a path'],
    ['an escape sequence in a name', `${SUM}  a\u001b[2Jb.zip\n`, 'Line 1 of SHA256SUMS has a path'],
  ])('must not have %s', (_, text, refusal) => {
    expect(() => parse(text)).toThrow(refusal);
  });

  it('must say one thing of each file', () => {
    const text = `${SUM}  ${ZIP}\n${SUM.replaceAll('e', 'f')}  ${ZIP}\n`;
    expect(() => parse(text)).toThrow(`Line 2 of SHA256SUMS has another checksum for ${ZIP} than a line before it`);
  });

  it('must be UTF-8', () => {
    expect(() => parse(Buffer.from([0xff, 0xfe, 0x41]))).toThrow('SHA256SUMS is not a text in UTF-8');
  });

  it('is written in the order of names, and read again as it was', () => {
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
