import { signInTestUser } from '../../support/sessions.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { site } from '../targets.js';

// Pages accept sessions only, and forms only from pages of the site: tokens count as nothing.

const UNKNOWN = { id: 'none', provider: 'none' };

/** A session that the request may end. */
export const ownSession: MatrixTarget = {
  ...site,
  params: () => UNKNOWN,
  fresh: async (caller, { server }) => ({
    params: UNKNOWN,
    ...(caller.session ? { api: await signInTestUser(server, caller.id) } : {}),
  }),
};

export const statusOf =
  (withSession: number, without: number): MatrixRow['status'] =>
  ({ caller }) =>
    caller.session ? withSession : without;

const pages: readonly MatrixRow[] = (
  [
    ['/sign-in', 303, 200],
    ['/sign-in/second-factor', 303, 303],
    ['/sign-in/link', 404, 404],
    ['/sign-in/webauthn.js', 200, 200],
    ['/sign-in/passkeys.js', 200, 200],
    ['/sign-in/oidc/:provider', 404, 404],
    ['/sign-in/oidc/:provider/callback', 400, 400],
    ['/sign-in/oidc/:provider/sign-out', 404, 404],
    ['/sign-in/saml/continue.js', 200, 200],
    ['/sign-in/saml/:provider/sign-out', 404, 404],
    ['/sign-in/saml/:provider/logout', 303, 303],
    ['/account', 200, 303],
    ['/account/totp', 200, 303],
    ['/account/identity-providers/:id/link', 404, 303],
  ] as const
).map(([path, withSession, without]) => ({
  route: `GET ${path}`,
  about: ownSession,
  demands: 'anybody',
  status: statusOf(withSession, without),
  fresh: true,
}));

const forms: readonly MatrixRow[] = (
  [
    ['/sign-in', 400],
    ['/sign-in/passkey', 400],
    ['/sign-in/second-factor', 400],
    ['/sign-in/link', 400],
    ['/sign-in/saml/:provider/finish', 400],
    ['/account/sessions/:id/end', 404],
    ['/account/password', 400],
    ['/account/password/removal', 404],
    ['/account/totp', 400],
    ['/account/totp/removal', 404],
    ['/account/recovery-codes', 404],
    ['/account/passkeys', 400],
    ['/account/passkeys/:id', 400],
    ['/account/passkeys/:id/removal', 404],
    ['/account/identities/:id/removal', 404],
  ] as const
).map(([path, withSession]) => ({
  route: `POST ${path}`,
  about: ownSession,
  demands: 'anybody',
  status: statusOf(withSession, 403),
  fresh: true,
  trail: [],
  successes: 'libs/identity/sign-in/sign-in.controller.spec.ts',
}));

/** Identity providers of other sites send it, so it needs no origin. */
const fromProviders: readonly MatrixRow[] = [
  {
    route: 'POST /sign-in/saml/:provider/acs',
    about: ownSession,
    demands: 'anybody',
    status: 400,
    fresh: true,
    trail: [],
    successes: 'libs/identity/identity-providers/sign-in/saml-sign-in.controller.spec.ts',
  },
];

const ends: readonly MatrixRow[] = ['/sign-out', '/account/sessions/end'].map((path) => ({
  route: `POST ${path}`,
  about: ownSession,
  demands: 'anybody',
  status: statusOf(303, 403),
  fresh: true,
  trail: ['session destroy'],
}));

export const signInRows: readonly MatrixRow[] = [...pages, ...forms, ...fromProviders, ...ends];
