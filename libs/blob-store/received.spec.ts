import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Refused } from '#kernel';
import { bytesOf } from './blob-store.js';
import { checkAnnounced, MIB, received } from './received.js';

const piecesOf = (...sizes: readonly number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size)));

const refusal = (content: AsyncIterable<Uint8Array>): Promise<Refused | undefined> =>
  bytesOf(content).then(
    () => undefined,
    (error: unknown) => error as Refused,
  );

describe('what is received', () => {
  it('is what was sent, up to the limit', async () => {
    expect(await bytesOf(received(piecesOf(MIB, MIB), 2 * MIB))).toHaveLength(2 * MIB);
    expect(await bytesOf(received(piecesOf(), MIB))).toHaveLength(0);
  });

  it('is refused as soon as it is more; the line stays open for the answer, and the rest flows away', async () => {
    const line = piecesOf(MIB, 1, MIB, MIB);
    const ended = new Promise((resolve) => line.once('end', resolve));
    const refused = await refusal(received(line, MIB));
    expect([refused?.kind, refused?.message]).toEqual(['too-large', 'The upload is larger than 1 MiB']);
    expect(line.destroyed).toBe(false);
    await ended;
  });

  it('flows away where nobody wants more of it', async () => {
    const line = piecesOf(1, MIB, MIB);
    const ended = new Promise((resolve) => line.once('end', resolve));
    for await (const piece of received(line, MIB)) {
      expect(piece).toHaveLength(1);
      break;
    }
    await ended;
  });

  it('is refused unread where it says itself that it is more', () => {
    expect(() => checkAnnounced(MIB / 2 + 1, MIB / 2)).toThrow('The upload is larger than 512 KiB');
    for (const length of [null, 0, MIB]) checkAnnounced(length, MIB);
  });

  it('is refused where the line broke', async () => {
    const broken = new Readable({ read: () => undefined });
    broken.push(Buffer.from('half'));
    const refused = refusal(received(broken, MIB));
    broken.destroy(new Error('ECONNRESET'));
    expect((await refused)?.kind).toBe('bad-request');
  });
});
