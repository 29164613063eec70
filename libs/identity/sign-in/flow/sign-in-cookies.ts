const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** Proves the first factor while the person types the code of the second one. */
export const SECOND_FACTOR_COOKIE = '__Host-cadastre-second-factor';
/** Shows that a person has signed in with this browser before. */
export const DEVICE_COOKIE = '__Host-cadastre-device';

const TOKEN = /^[\w.-]{1,2000}$/;

/** Returns the value of a cookie of the request; undefined if it is absent or has other characters than tokens. */
export const readCookie = (header: string | undefined, name: string): string | undefined => {
  const cookie = (header ?? '').split(';').find((part) => part.trimStart().startsWith(`${name}=`));
  const value = cookie?.slice(cookie.indexOf('=') + 1).trim();
  return value !== undefined && TOKEN.test(value) ? value : undefined;
};

/** Returns a header Set-Cookie. The browser keeps the cookie for this time. */
export const formatCookie = (name: string, value: string, lifeMs: number): string =>
  `${name}=${value}; ${ATTRIBUTES}; Max-Age=${Math.floor(lifeMs / 1_000)}`;

/** As `formatCookie`, for a cookie that the browser does not send if a link of another site leads here. */
export const formatStrictCookie = (name: string, value: string, lifeMs: number): string =>
  formatCookie(name, value, lifeMs).replace('SameSite=Lax', 'SameSite=Strict');

export const formatRemovedCookie = (name: string): string => `${name}=; ${ATTRIBUTES}; Max-Age=0`;
