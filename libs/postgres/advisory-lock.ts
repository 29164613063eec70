import { createHash } from 'node:crypto';

/** Advisory locks are numbers: the first 52 bits of the name's hash, which a JavaScript number holds exactly. */
export const computeLockKey = (name: string): number =>
  Number.parseInt(createHash('sha256').update(name).digest('hex').slice(0, 13), 16);

/** Held by the process that runs the follower. */
export const computeFollowerLockKey = (name: string): number => computeLockKey(`cadastre follower ${name}`);
