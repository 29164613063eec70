import { customAlphabet } from 'nanoid';
import { v7 } from 'uuid';
import { Clock, Ids } from '#kernel';

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

export class RandomIds extends Ids {
  override next(prefix: string): string {
    return `${prefix}-${idLetters()}`;
  }

  override uuid(): string {
    return v7();
  }

  override secret(): string {
    return `${secretLetters(14)}.atlasv1.${secretLetters(60)}`;
  }
}
