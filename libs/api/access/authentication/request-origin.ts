import { forbidden } from '#platform/kernel';

/** Header of API requests with a session. Other sites cannot send it without the permission of CORS. */
const CSRF_HEADER = 'x-cadastre-csrf';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The parts of a request that show which site sent it. */
export type RequestOrigin = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

const show = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value).slice(0, 200));

/**
 * Refuses a change that another site could have made the browser send with the person's cookie (CSRF). Browsers send
 * `Origin` with every unsafe request, and `Sec-Fetch-Site` to servers with HTTPS.
 *
 * `needsHeader`: whether the request also needs the header that only scripts of this site can send. Forms of pages
 * cannot send headers.
 */
export const requireOwnOrigin = (
  { method, headers }: RequestOrigin,
  siteOrigin: string,
  { needsHeader }: { readonly needsHeader: boolean },
): void => {
  if (SAFE_METHODS.has(method)) return;
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== siteOrigin)
    throw forbidden(`Origin: must be ${siteOrigin} for changes with a session, got ${show(origin)}`);
  if (site !== undefined && site !== 'same-origin') {
    throw forbidden(`Sec-Fetch-Site: must be same-origin for changes with a session, got ${show(site)}`);
  }
  if (needsHeader && headers[CSRF_HEADER] !== '1') {
    throw forbidden(`X-Cadastre-CSRF: must be 1 for changes with a session, got ${show(headers[CSRF_HEADER])}`);
  }
};
