import { createPersonContext } from '#api/access';
import { startSession, type SignIn, type StartedSession } from '#identity/people';
import type { ApiTestClient, TestCredential, TestServer } from './server.js';

/** What the browser of a test sends as the program that it is. */
const BROWSER = 'Mozilla/5.0 (test)';

/** Starts a session of a user without a sign-in page. By default, the person signs in with a password. */
export const startTestSession = async (
  { runtime }: TestServer,
  user: string,
  signIn: Partial<SignIn> = {},
): Promise<StartedSession> => {
  const { store, ids, clock, settings } = runtime;
  const request = { id: ids.uuid(), address: '203.0.113.7', userAgent: BROWSER };
  // As if the provider had stated the time of the authentication.
  const authenticatedAt = signIn.method === 'oidc' ? clock.now().toISOString() : null;
  const started = await startSession(
    { store, ids, clock, sessionHours: settings.sessions.hours },
    { user, method: 'password', assurance: 'password', authenticatedAt, ...signIn },
    (person) => createPersonContext(person, request),
  );
  if (!started) throw new Error(`there is no user ${user}`);
  return started;
};

/** Returns a new session of the user, as a page of the site sends it. */
export const createTestSession = async (
  server: TestServer,
  user: string,
  signIn: Partial<SignIn> = {},
): Promise<TestCredential> => {
  const { secret } = await startTestSession(server, user, signIn);
  return { session: secret, origin: server.runtime.settings.publicUrl };
};

/** Returns a client that sends a new session of the user, as a page of the site does. */
export const signInTestUser = async (
  server: TestServer,
  user: string,
  signIn: Partial<SignIn> = {},
): Promise<ApiTestClient> => server.as(await createTestSession(server, user, signIn));
