import { SITE_LOG } from '../tiles/hashes.js';

/**
 * The origin of a log names it for ever, so it contains the id of the organization, which never changes. It begins with
 * the host at which the log was first published, and keeps it when the site moves to another host.
 */
export const buildOrigin = (publicUrl: string, log: string): string =>
  `${new URL(publicUrl).host}/${log === SITE_LOG ? SITE_LOG_PATH : log}`;

/** Where the log of the site is served, and the end of its origin. */
export const SITE_LOG_PATH = 'audit-trail-log';

const NUMBERED = /^([^/]+\/[^/]+)(?:\/(\d+)(?:-[0-9a-f]+)?)?$/;

/** Returns 1 for the first origin of an organization, 2 for the second. */
export const getOriginNumber = (origin: string): number => Number(NUMBERED.exec(origin)?.[2] ?? 1);

/**
 * Returns the origin after others. `suffix` distinguishes it from an origin that the database may have forgotten; null
 * if it knows the last one.
 */
export const buildNextOrigin = (last: string, suffix: string | null): string => {
  const first = NUMBERED.exec(last)?.[1] ?? last;
  const number = getOriginNumber(last) + 1;
  return `${first}/${number}${suffix === null ? '' : `-${suffix}`}`;
};
