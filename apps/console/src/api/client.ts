import { createCadastreClient } from '#client';
import { acceptSession, waitForSession, wasSessionAccepted } from './session.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Leaves the console. The sign-in page leads back to this screen. */
const goToSignIn = (): void => {
  const { pathname, search, hash } = window.location;
  window.location.assign(`/sign-in?return_to=${encodeURIComponent(pathname + search + hash)}`);
};

/** Sends a request with the cookie of the session. Changes need a header that other sites cannot send (ADR 55). */
const sendWithSession = async (request: Request): Promise<Response> => {
  if (!SAFE_METHODS.has(request.method)) request.headers.set('X-Cadastre-CSRF', '1');
  for (;;) {
    // A request that waits is sent again, with its body.
    const response = await fetch(request.clone());
    if (response.status !== 401) {
      acceptSession();
      return response;
    }
    if (!wasSessionAccepted()) {
      goToSignIn();
      // The browser leaves the page, so nothing needs the answer.
      return new Promise(() => undefined);
    }
    await waitForSession();
  }
};

/** The API of this server, as the signed-in person. */
export const api = createCadastreClient({ server: window.location.origin, fetch: sendWithSession });
