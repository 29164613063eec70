import { randomInt } from 'node:crypto';

const factor = Number(process.env['CADASTRE_ROUNDS'] || 1);
if (!(factor > 0))
  throw new Error(`CADASTRE_ROUNDS: must be a number above 0, got "${process.env['CADASTRE_ROUNDS']}"`);

/**
 * Returns how many rounds a test with random choices takes. `rounds` is the number in `npm test`, which must be enough for
 * each kind of case. CADASTRE_ROUNDS, which `npm run soak` sets, multiplies it.
 */
export const countRounds = (rounds: number): number => Math.ceil(rounds * factor);

/** Returns the time limit in ms of a test that takes `limit` in `npm test`. */
export const scaleLimit = (limit: number): number => limit * Math.max(1, factor);

/** Returns the seed. Without CADASTRE_SEED, `npm test` makes the same choices each time, and longer runs make new ones. */
export const chooseSeed = (usual: number): number =>
  Number(process.env['CADASTRE_SEED'] || (factor > 1 ? randomInt(2 ** 31) : usual));
