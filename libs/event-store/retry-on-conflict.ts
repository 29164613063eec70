import { unavailable } from '#kernel';
import { getViolatedConstraint, isVersionConflictError, isRetryableError } from '#postgres';

const ATTEMPTS = 40;
const PAUSE_MAX_MS = 100;

/** The first retries run at once. Later ones are spread out, so that many writers of one stream do not conflict for ever. */
const pauseBefore = async (attempt: number): Promise<void> => {
  if (attempt < 3) return;
  const longest = Math.min(2 ** attempt, PAUSE_MAX_MS);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
};

/**
 * Does the work again, reading included, as often as another writer was faster. `races` names unique constraints that say
 * so as well. Throws `unavailable` after 40 attempts.
 */
export const retryOnConflict = async <T>(work: () => Promise<T>, races: readonly string[]): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const broken = getViolatedConstraint(error);
      const raced = broken !== null && races.includes(broken);
      if (!isVersionConflictError(error) && !isRetryableError(error) && !raced) throw error;
      if (attempt === ATTEMPTS) throw unavailable('Too many are changing this at once. Please try again.', 1);
      await pauseBefore(attempt);
    }
  }
};
