import { SITE_LOG } from '../tiles/hashes.js';

/**
 * The origin of a log names it for ever, so it contains the id of the organization, which never changes. It begins with
 * the host at which the log was first published, and keeps it when the site moves to another host.
 */
const buildOrigin = (publicUrl: string, log: string): string =>
  `${new URL(publicUrl).host}/${log === SITE_LOG ? SITE_LOG_PATH : log}`;

/** Where the log of the site is served, and the end of its origin. */
export const SITE_LOG_PATH = 'audit-trail-log';

const NUMBERED = /^([^/]+\/[^/]+)(?:\/(\d{1,9})(?:-[0-9a-f]+)?)?$/;

/**
 * Returns the origin of the first checkpoint of a log. `former` are the origins that the log of the organization had at other
 * sites. One of them has the same host if the site was installed again, and its origin is not used for another history.
 */
export const buildFirstOrigin = (publicUrl: string, log: string, former: readonly string[]): string => {
  const origin = buildOrigin(publicUrl, log);
  const [last] = former
    .filter((each) => NUMBERED.exec(each)?.[1] === origin)
    .toSorted((a, b) => getOriginNumber(b) - getOriginNumber(a));
  return last === undefined ? origin : buildNextOrigin(last, null);
};

/** Returns whether two origins are of one log, which forked perhaps. */
export const isSameLog = (a: string, b: string): boolean => {
  const first = NUMBERED.exec(a)?.[1];
  return first !== undefined && first === NUMBERED.exec(b)?.[1];
};

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
