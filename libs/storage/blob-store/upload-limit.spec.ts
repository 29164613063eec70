import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { readBytes } from './blob-store.js';
import { checkContentLength, MIB, limitUpload } from './upload-limit.js';

const piecesOf = (...sizes: readonly number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size)));

const refusal = (content: AsyncIterable<Uint8Array>): Promise<Refusal | undefined> =>
  readBytes(content).then(
    () => undefined,
    (error: unknown) => error as Refusal,
  );

describe('limitUpload', () => {
  it('passes on an upload up to the limit', async () => {
    expect(await readBytes(limitUpload(piecesOf(MIB, MIB), 2 * MIB))).toHaveLength(2 * MIB);
    expect(await readBytes(limitUpload(piecesOf(), MIB))).toHaveLength(0);
  });

  it('refuses a larger upload at once, keeps the connection open for the response, and drains the rest', async () => {
    const line = piecesOf(MIB, 1, MIB, MIB);
    const ended = new Promise((resolve) => line.once('end', resolve));
    const refused = await refusal(limitUpload(line, MIB));
    expect([refused?.kind, refused?.message]).toEqual(['too-large', 'The upload is larger than 1 MiB']);
    expect(line.destroyed).toBe(false);
    await ended;
  });

  it('drains the rest if the reader stops early', async () => {
    const line = piecesOf(1, MIB, MIB);
    const ended = new Promise((resolve) => line.once('end', resolve));
    for await (const piece of limitUpload(line, MIB)) {
      expect(piece).toHaveLength(1);
      break;
    }
    await ended;
  });

  it('checkContentLength refuses a larger upload before it is read', () => {
    expect(() => checkContentLength(MIB / 2 + 1, MIB / 2)).toThrow('The upload is larger than 512 KiB');
    for (const length of [null, 0, MIB]) checkContentLength(length, MIB);
  });

  it('refuses an upload whose connection broke', async () => {
    const broken = new Readable({ read: () => undefined });
    broken.push(Buffer.from('half'));
    const refused = refusal(limitUpload(broken, MIB));
    broken.destroy(new Error('ECONNRESET'));
    expect((await refused)?.kind).toBe('bad-request');
  });
});
