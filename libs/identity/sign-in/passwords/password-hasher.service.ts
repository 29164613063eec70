import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { unavailable } from '#platform/kernel';
import { normalizePassword } from './password-rules.js';

/** Argon2id with 19 MiB and two passes (OWASP Password Storage Cheat Sheet). Argon2id is the default of the package. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each hash takes 19 MiB and a thread of four. */
const MAX_RUNNING = 2;
const MAX_WAITING = 40;

/**
 * Hashes passwords, a few at a time, so that a flood of sign-ins takes neither the memory nor the threads of the
 * server.
 */
@Injectable()
export class PasswordHasher {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private decoy: Promise<string> | null = null;

  hash(password: string): Promise<string> {
    return this.inTurn(() => hash(normalizePassword(password), PARAMETERS));
  }

  /** Returns whether the password has the hash. Without a hash it takes the same time, and returns false. */
  async verify(password: string, stored: string | null): Promise<boolean> {
    this.decoy ??= this.hash('no password has this hash');
    const against = stored ?? (await this.decoy);
    const isRight = await this.inTurn(() => verify(against, normalizePassword(password)));
    return stored !== null && isRight;
  }

  /** Throws `unavailable` if too many others wait. */
  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= MAX_RUNNING) {
      if (this.waiting.length >= MAX_WAITING) {
        throw unavailable('Too many people sign in at the moment. Please try again.', 1);
      }
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running += 1;
    }
    try {
      return await work();
    } finally {
      // The next one takes over the turn, so that nobody overtakes those who wait.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
