import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import {
  continueLog,
  EMPTY_LOG,
  hasEnded,
  limitOutput,
  MAX_APPEND_BYTES,
  MAX_CHUNKS,
  renderLog,
  replaceDelimiters,
  splitIntoChunks,
  toOutputRange,
  type LogChunk,
  type LogEnd,
} from './run-log.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const after = (text: string, change: Partial<LogEnd> = {}): LogEnd => ({
  ...EMPTY_LOG,
  end: text.length,
  chunks: 1,
  endsLine: text.endsWith('\n'),
  ...change,
});

describe('the limit of a log', () => {
  const cutTo = (log: LogEnd, output: string, limit: number): string =>
    limitOutput(log, bytes(output), limit).content.toString();

  it('stores output up to the limit unchanged', () => {
    expect(limitOutput(EMPTY_LOG, bytes('one\ntwo\n'), 8)).toEqual({
      content: bytes('one\ntwo\n'),
      isJson: false,
      isCut: false,
    });
  });

  it('keeps whole lines and adds a mark', () => {
    expect(cutTo(EMPTY_LOG, 'one\ntwo\n', 7)).toMatch(/^one\nThe log is cut here.*7 bytes.*\n$/);
    expect(cutTo(after('one\n'), 'two\n', 4)).toMatch(/^The log is cut here/);
  });

  it('completes a line that has begun', () => {
    expect(cutTo(after('on'), 'e\ntwo\n', 3)).toMatch(/^e\nThe log is cut here/);
    expect(limitOutput(after('on'), bytes('e'), 2)).toMatchObject({ content: bytes('e'), isCut: false });
  });

  it('cuts a line that exceeds the limit by more than one append', () => {
    const log = after('x', { end: 10 + MAX_APPEND_BYTES });
    expect(cutTo(log, 'xx', 10)).toMatch(/^\nThe log is cut here/);
  });

  it('writes the mark as JSON in a log of JSON lines', () => {
    const { content, isJson } = limitOutput(EMPTY_LOG, bytes('{"a":1}\n{"b":2}\n'), 9);
    expect(isJson).toBe(true);
    const lines = content.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { a: 1 },
      expect.objectContaining({ '@message': expect.stringContaining('The log is cut here') }),
    ]);
  });

  it('cuts a log of very many chunks', () => {
    expect(cutTo(after('one\n', { chunks: MAX_CHUNKS - 1 }), 'two\n', 1_000)).toMatch(/^The log is cut here/);
  });

  it('leaves every line of JSON valid, however the output is split', () => {
    const line = fc.record({ text: fc.string() }).map((value) => `${JSON.stringify(value)}\n`);
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1 }),
        fc.array(fc.nat(40), { minLength: 1 }),
        fc.nat(200),
        (lines, sizes, limit) => {
          const output = bytes(lines.join(''));
          let log: LogEnd = EMPTY_LOG;
          let stored = Buffer.alloc(0);
          for (let sent = 0, round = 0; sent < output.length && !log.isCut; round += 1) {
            const piece = output.subarray(sent, sent + (sizes[round % sizes.length] ?? 0) + 1);
            sent += piece.length;
            const part = limitOutput(log, piece, limit);
            const last = splitIntoChunks(log, part).at(-1);
            stored = Buffer.concat([stored, part.content]);
            log = last
              ? {
                  ...EMPTY_LOG,
                  isJson: part.isJson,
                  end: stored.length,
                  chunks: last.number + 1,
                  endsLine: last.endsLine,
                  isCut: last.isCut,
                }
              : log;
          }
          for (const one of stored.toString().split('\n').slice(0, -1)) JSON.parse(one);
          expect(stored.at(-1)).toBe(0x0a);
          expect(output.length > limit || stored.equals(output)).toBe(true);
        },
      ),
    );
  });
});

describe('chunks', () => {
  it('follow the log without gaps, and only the last one is marked as cut', () => {
    const content = Buffer.alloc(150_000, 'x');
    const chunks: readonly LogChunk[] = splitIntoChunks(after('one\n'), { content, isJson: false, isCut: true });
    expect(chunks.map(({ start, number, isCut }) => ({ start, number, isCut }))).toEqual([
      { start: 4, number: 1, isCut: false },
      { start: 4 + 65_536, number: 2, isCut: false },
      { start: 4 + 131_072, number: 3, isCut: true },
    ]);
    expect(Buffer.concat(chunks.map((chunk) => chunk.content))).toEqual(content);
  });
});

it('replaces delimiters in the output of tools by spaces', () => {
  expect(replaceDelimiters(bytes('a\u0002b\u0003'))).toEqual(bytes('a b '));
});

describe('the log that clients read', () => {
  const whole = 'hello';
  /** Reads a log in parts, as go-tfe does. */
  const readAll = (status: 'running' | 'errored', limit: number): Buffer => {
    const parts: Buffer[] = [];
    for (let offset = 0; ;) {
      const range = toOutputRange({ offset, limit });
      const output = bytes(whole).subarray(range.offset, range.offset + range.limit);
      const part = renderLog({ offset, limit }, { output, end: whole.length, status });
      if (part.length === 0) return Buffer.concat(parts);
      parts.push(part);
      offset += part.length;
    }
  };

  it.each([1, 2, 3, 6, 7, 100])('is the same in parts of %d bytes', (limit) => {
    expect(readAll('running', limit)).toEqual(bytes('\u0002hello'));
    expect(readAll('errored', limit)).toEqual(bytes('\u0002hello\u0003'));
  });

  it('has no end while a read returns only a part of the output', () => {
    const part = renderLog({ offset: 0, limit: 100 }, { output: bytes('he'), end: 5, status: 'finished' });
    expect(part).toEqual(bytes('\u0002he'));
  });

  it('is empty before the phase has started, and complete after a phase without output', () => {
    const read = (status: Parameters<typeof hasEnded>[0]) =>
      renderLog({ offset: 0, limit: 10 }, { output: Buffer.alloc(0), end: 0, status });
    expect(read('pending')).toEqual(bytes(''));
    expect(read('queued')).toEqual(bytes(''));
    expect(read('running')).toEqual(bytes('\u0002'));
    expect(read('unreachable')).toEqual(bytes('\u0002\u0003'));
  });
});

describe('the log of a claim after another one', () => {
  const before = after('{"a":1}\n{"b', { fence: 1, isJson: true, isCut: true });

  it('follows a mark in the format of the log, with its own limit', () => {
    const { log, mark } = continueLog(before, 2);
    const text = mark?.content.toString() ?? '';
    expect(text).toMatch(/^\n\{.*\}\n$/);
    expect(JSON.parse(text)).toMatchObject({ '@message': 'The executor was lost. Another one begins again.' });
    expect(mark).toMatchObject({ start: before.end, fence: 1, isCut: true });
    const begin = before.end + (mark?.content.length ?? 0);
    expect(log).toEqual({ ...EMPTY_LOG, end: begin, base: begin, fence: 2 });
    expect(limitOutput(log, bytes('12345678\n'), 9).isCut).toBe(false);
    expect(limitOutput(log, bytes('123456789\n'), 9).isCut).toBe(true);
  });

  it.each([
    ['the same claim', before, 1],
    ['a claim without output before', EMPTY_LOG, 1],
    ['an executor of an earlier release', after('text\n'), 2],
  ])('has no mark for %s', (_, stored, fence) => {
    const { log, mark } = continueLog(stored, fence);
    expect([mark, log.end, log.base]).toEqual([null, stored.end, 0]);
  });
});
