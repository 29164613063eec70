import { createCadastreClient } from '#packages/client';
import { noteServerTime } from './server-time.js';
import { acceptSession, waitForSignIn, wasSessionAccepted } from './session.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Leaves the console. Never resolves: nothing needs the answer of the request. */
const goTo = (address: string): Promise<never> => {
  window.location.assign(address);
  return new Promise(() => undefined);
};

/** Leaves the console. The sign-in page leads back to this screen. */
const goToSignIn = (): Promise<never> => {
  const { pathname, search, hash } = window.location;
  return goTo(`/sign-in?return_to=${encodeURIComponent(pathname + search + hash)}`);
};

type RefusalMeta = { readonly errors?: readonly { readonly meta?: { readonly required?: unknown } }[] };

/** Returns the requirement in a refusal that the session does not satisfy, or null. */
const readRequirement = async (response: Response): Promise<unknown> => {
  if (response.status !== 403) return null;
  const { errors } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as RefusalMeta;
  return errors?.[0]?.meta?.required ?? null;
};

/** Sends a request with the cookie of the session. Changes need a header that other sites cannot send (ADR 55). */
const sendWithSession = async (request: Request): Promise<Response> => {
  if (!SAFE_METHODS.has(request.method)) request.headers.set('X-Cadastre-CSRF', '1');
  let hasContinued = false;
  for (;;) {
    // A request that waits is sent again, with its body.
    const response = await fetch(request.clone());
    noteServerTime(response);
    if (response.status !== 401) {
      acceptSession();
      const requirement = await readRequirement(response);
      if (requirement === 'second-factor') return goTo('/account');
      if (requirement !== 'recent-sign-in') return response;
      if (!(await waitForSignIn(hasContinued ? 'recent-again' : 'recent'))) return response;
      hasContinued = true;
      continue;
    }
    if (!wasSessionAccepted()) return goToSignIn();
    await waitForSignIn('ended');
  }
};

/** The API of this server, as the signed-in person. */
export const api = createCadastreClient({ server: window.location.origin, fetch: sendWithSession });
