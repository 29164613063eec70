import { randomFillSync } from 'node:crypto';
import { customAlphabet } from 'nanoid';
import { v7 } from 'uuid';
import { Clock, Ids } from '#platform/kernel';

// Without 0, O, I and l, because people read ids aloud and copy them from screenshots.
const unambiguous = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// nanoid uses the system's secure random source and rejects bytes that would make some letters more likely, so it is
// suitable for secrets.
const idLetters = customAlphabet(unambiguous, 16);
const secretLetters = customAlphabet(alphanumeric);

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

const UUID_BYTES = 16;
/** The random bytes of this number of UUIDs are created together, which takes hardly longer than those of one. */
const UUIDS_IN_POOL = 256;
const SEQUENCE_MASK = 0x7f_ff_ff_ff;

export class RandomIds extends Ids {
  private readonly pool = Buffer.alloc(UUID_BYTES * UUIDS_IN_POOL);
  private used = this.pool.length;
  private ms = 0;
  private sequence = 0;

  override next(prefix: string): string {
    return `${prefix}-${idLetters()}`;
  }

  /** UUIDs of the same millisecond are numbered from a random number, so that they sort in the order of the calls. */
  override uuid(): string {
    const random = this.takeRandomBytes();
    const now = Date.now();
    if (now > this.ms) {
      this.ms = now;
      this.sequence = random.readUInt32BE(6) & SEQUENCE_MASK;
    } else {
      this.sequence = (this.sequence + 1) | 0;
      if (this.sequence === 0) this.ms += 1;
    }
    return v7({ random, msecs: this.ms, seq: this.sequence });
  }

  override secret(): string {
    return `${secretLetters(14)}.atlasv1.${secretLetters(60)}`;
  }

  private takeRandomBytes(): Buffer {
    if (this.used === this.pool.length) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    const start = this.used;
    this.used += UUID_BYTES;
    return this.pool.subarray(start, this.used);
  }
}
