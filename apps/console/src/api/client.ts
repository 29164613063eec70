import { createCadastreClient } from '#client';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Leaves the console. The sign-in page leads back to this screen. */
const goToSignIn = (): void => {
  const { pathname, search, hash } = window.location;
  window.location.assign(`/sign-in?return_to=${encodeURIComponent(pathname + search + hash)}`);
};

/** Sends a request with the cookie of the session. Changes need a header that other sites cannot send (ADR 55). */
const sendWithSession = async (request: Request): Promise<Response> => {
  if (!SAFE_METHODS.has(request.method)) request.headers.set('X-Cadastre-CSRF', '1');
  const response = await fetch(request);
  if (response.status !== 401) return response;
  goToSignIn();
  // The browser leaves the page, so nothing needs the answer.
  return new Promise(() => undefined);
};

/** The API of this server, as the signed-in person. */
export const api = createCadastreClient({ server: window.location.origin, fetch: sendWithSession });
