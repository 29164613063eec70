import { customAlphabet } from 'nanoid';
import { v7 } from 'uuid';
import { Clock, Ids } from '#kernel';

// Without 0, O, I and l: ids are read aloud and copied from screenshots.
const unambiguous = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// nanoid draws from the system's secure source and rejects what would favour some letters: fit for secrets as well.
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
