import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HmacKey } from './hmac-key.js';

describe('a key of MACs', () => {
  it('computes the same MACs as OpenSSL', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(fc.string({ unit: 'binary' })), (bytes, messages) => {
        const key = new HmacKey(Buffer.from(bytes));
        for (const message of messages)
          expect(key.compute(message)).toEqual(createHmac('sha256', bytes).update(message).digest());
      }),
    );
  });

  it('is refused if it is longer than a block of the hash', () => {
    expect(() => new HmacKey(Buffer.alloc(65))).toThrow('at most 64 bytes');
  });
});
