import { unavailable } from '#platform/kernel';
import { getViolatedConstraint, isVersionConflictError, isRetryableError } from '#platform/postgres';

const ATTEMPTS = 40;
const PAUSE_MAX_MS = 100;

/**
 * Waits before later attempts. The first retries run at once; later ones are spread out, so that many writers of one
 * stream do not conflict for ever.
 */
const pauseBefore = async (attempt: number): Promise<void> => {
  if (attempt < 3) return;
  const longest = Math.min(2 ** attempt, PAUSE_MAX_MS);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
};

/**
 * Repeats the work, including its reads, after a conflict with another writer. `races` names unique constraints whose
 * violation counts as a conflict. Throws `unavailable` after 40 attempts.
 */
export const retryOnConflict = async <T>(work: () => Promise<T>, races: readonly string[]): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const broken = getViolatedConstraint(error);
      const raced = broken !== null && races.includes(broken);
      if (!isVersionConflictError(error) && !isRetryableError(error) && !raced) throw error;
      if (attempt === ATTEMPTS)
        throw unavailable('Too many requests change this resource at the same time. Please try again.', 1);
      await pauseBefore(attempt);
    }
  }
};
