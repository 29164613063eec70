import { GitHostError, type GitHostFailure } from './git-host.js';

const IDENTIFIER = /^([\w.-]{1,200})\/([\w.-]{1,200})$/;

/** Returns `/repos/OWNER/NAME`; null if no repository can have the identifier. */
export const toRepositoryPath = (identifier: string): string | null => {
  const [, owner, name] = IDENTIFIER.exec(identifier) ?? [];
  // The two names of folders would leave the path of repositories.
  return owner === undefined || name === undefined || [owner, name].some((part) => /^\.\.?$/.test(part))
    ? null
    : `/repos/${owner}/${name}`;
};

/** Returns the path of a repository that a workspace follows. Throws `not-found` if no repository can have the identifier. */
export const requirePath = (path: string | null, identifier: string): string => {
  if (path === null)
    throw new GitHostError('not-found', `No repository can have the identifier ${JSON.stringify(identifier)}`);
  return path;
};

/** Returns `/repos/OWNER/NAME` like `requirePath`. */
export const requireRepositoryPath = (identifier: string): string =>
  requirePath(toRepositoryPath(identifier), identifier);

/** Returns whether a branch can have the name, and its path stays below the path of branches. */
export const isBranchName = (name: string): boolean => name !== '' && !/^\.\.?$/.test(name) && name.isWellFormed();

const UNKNOWN: readonly GitHostFailure[] = ['not-found', 'unexpected', 'unavailable'];

/** Returns null for answers that a host gives if it cannot compare two commits. A large comparison can take the host too long. */
export const nullIfUnknown = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GitHostError && UNKNOWN.includes(error.failure)) return null;
    throw error;
  }
};

/** Rows of a page of GitHub and GitLab. */
export const PAGE_SIZE = 100;

/**
 * Reads a list until a page is not full, at most `maxPages`. `isComplete` is false if the last page that was read is full, so
 * that there can be more rows.
 */
export const readPages = async <T>(
  maxPages: number,
  readPage: (page: number) => Promise<readonly T[]>,
): Promise<{ readonly rows: readonly T[]; readonly isComplete: boolean }> => {
  const rows: T[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const read = await readPage(page);
    rows.push(...read);
    if (read.length < PAGE_SIZE) return { rows, isComplete: true };
  }
  return { rows, isComplete: false };
};
