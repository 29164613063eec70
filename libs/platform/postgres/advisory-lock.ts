import { createHash } from 'node:crypto';

/**
 * Returns the number of an advisory lock: the first 52 bits of the name's hash, which a JavaScript number represents
 * exactly.
 */
export const computeLockKey = (name: string): number =>
  Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 13), 16);

/** Returns the number of the lock that the process holds while it runs the follower. */
export const computeFollowerLockKey = (name: string): number => computeLockKey(`cadastre follower ${name}`);
