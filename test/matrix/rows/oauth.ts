import type { MatrixRow } from '../matrix.js';
import { site } from '../targets.js';
import { ownSession, statusOf } from './sign-in.js';

const SUCCESSES = 'libs/identity/oauth/oauth.spec.ts';

const CONSENT: Readonly<Record<string, string>> = {
  client_id: 'terraform-cli',
  redirect_uri: 'http://localhost:10000/login',
  response_type: 'code',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

/** The consent page accepts sessions only. Programs call the other endpoints without a token. */
export const oauthRows: readonly MatrixRow[] = [
  {
    route: 'GET /.well-known/oauth-authorization-server',
    about: site,
    demands: 'anybody',
    status: 200,
  },
  {
    route: 'GET /oauth/authorize',
    about: ownSession,
    demands: 'anybody',
    status: statusOf(200, 303),
    query: () => new URLSearchParams(CONSENT).toString(),
    fresh: true,
  },
  {
    route: 'POST /oauth/authorize',
    about: ownSession,
    demands: 'anybody',
    status: statusOf(400, 403),
    fresh: true,
    trail: [],
    successes: SUCCESSES,
  },
  // A form without fields.
  {
    route: 'POST /oauth/token',
    about: site,
    demands: 'anybody',
    status: 400,
    // A login creates a token too, and a pipeline also gets the other entry.
    trail: ['authentication_token create', 'workload_identity issue_token'],
    successes: 'libs/identity/workload-identities/exchange/token-exchange.service.spec.ts',
  },
  {
    route: 'POST /oauth/back-channel-logout/:provider',
    about: { ...site, params: () => ({ provider: 'none' }) },
    demands: 'anybody',
    status: 400,
    trail: [],
    successes: 'libs/identity/identity-providers/logout/back-channel-logout.controller.spec.ts',
  },
  {
    route: 'POST /oauth/revoke',
    about: site,
    demands: 'anybody',
    status: 400,
    trail: [],
    successes: SUCCESSES,
  },
];
