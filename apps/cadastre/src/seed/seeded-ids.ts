import { createHash } from 'node:crypto';
import type { Ids } from '#platform/kernel';
import type { SeedOptions } from './seed-options.js';

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ID_LENGTH = 16;

/** Returns the same 32 bytes for the same options and name. Half of them become the id, the others choose values. */
const computeBytes = ({ seed, prefix }: Pick<SeedOptions, 'seed' | 'prefix'>, name: string): Buffer =>
  createHash('sha256').update(`${seed} ${prefix} ${name}`).digest();

const toId = (kind: string, bytes: Buffer): string =>
  `${kind}-${Array.from(bytes.subarray(0, ID_LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('')}`;

/** The id of a resource, and a number for each of its choices. */
type SeededResource = { readonly id: string; readonly choice: (n: number) => number };

export const describeResource = (
  options: Pick<SeedOptions, 'seed' | 'prefix'>,
  kind: string,
  name: string | number,
): SeededResource => {
  const bytes = computeBytes(options, `${kind} ${name}`);
  return { id: toId(kind, bytes), choice: (n) => bytes[ID_LENGTH + n] ?? 0 };
};

/** Returns ids that depend only on the options and the order of the calls. Events get random ids. */
export const createSeededIds = (options: Pick<SeedOptions, 'seed' | 'prefix'>, random: Ids): Ids => {
  let count = 0;
  return {
    next: (kind) => describeResource(options, kind, `number ${(count += 1)}`).id,
    uuid: () => random.uuid(),
    secret: () => random.secret(),
  };
};
