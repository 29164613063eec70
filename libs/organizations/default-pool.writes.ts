import { unprocessable } from '#kernel';
import { unchanged, type Write } from '#event-store';

/**
 * Holds the pool that a command names at the version it was found at. Asked only once the settings have been found to
 * agree: whether a pool may be named at all comes first.
 */
export const heldPool = (pool: string | null, version: number | null, pointer: string): readonly Write[] => {
  if (pool === null) return [];
  if (version === null) throw unprocessable('Agent pool does not exist, or is not allowed here', pointer);
  return [unchanged(pool, version)];
};
