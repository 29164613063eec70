import { makeOauthClient, newOauthClient, openTestGitHost } from '../../support/git-host.js';
import { expectStatus, related, resource } from '../../support/seeds.js';
import type { Cell, MatrixRow, MatrixTarget } from '../matrix.js';
import { statusOf } from './sign-in.js';
import { createTarget, freshWorkspace, inAcme, organization, site, workspace } from '../targets.js';

const CLIENTS = '/organizations/:organization/oauth-clients';

const oauthClient: MatrixTarget = {
  ...createTarget(inAcme, 'oauthClient'),
  fresh: async (_, { server, acme }) => ({
    params: { id: (await makeOauthClient(server, acme.name, await openTestGitHost())).client },
  }),
};

const oauthToken: MatrixTarget = {
  ...createTarget(inAcme, 'oauthToken'),
  fresh: async (_, { server, acme }) => ({
    params: { id: (await makeOauthClient(server, acme.name, await openTestGitHost())).token },
  }),
};

const clients: readonly MatrixRow[] = [
  {
    route: `GET ${CLIENTS}`,
    about: organization,
    demands: ['read-vcs-connections'],
    status: 200,
    shows: () => ['git'],
  },
  {
    route: `POST ${CLIENTS}`,
    about: organization,
    demands: ['manage-vcs-connections'],
    status: 201,
    trail: ['oauth_client create'],
    bodyFor: ({ world }) => newOauthClient({ url: world.resources.gitHost }),
  },
  { route: 'GET /oauth-clients/:id', about: oauthClient, demands: ['read-vcs-connections'], status: 200 },
  {
    route: 'PATCH /oauth-clients/:id',
    about: oauthClient,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 200,
    trail: ['oauth_client update'],
    fresh: true,
    body: resource('oauth-clients', { name: 'renamed' }),
  },
  {
    route: 'DELETE /oauth-clients/:id',
    about: oauthClient,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 204,
    trail: ['oauth_token destroy', 'oauth_client destroy'],
    fresh: true,
  },
  {
    route: 'POST /oauth-clients/:id/relationships/projects',
    about: oauthClient,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 204,
    trail: ['oauth_client update'],
    fresh: true,
    bodyFor: ({ world }) => related('projects', world.land),
  },
  {
    route: 'DELETE /oauth-clients/:id/relationships/projects',
    about: oauthClient,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 204,
    trail: [],
    inert: true,
    fresh: true,
    bodyFor: ({ world }) => related('projects', world.land),
  },
];

const tokens: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/oauth-tokens',
    about: organization,
    demands: ['read-vcs-connections'],
    status: 200,
    trail: ['oauth_token index'],
  },
  {
    route: 'GET /oauth-clients/:id/oauth-tokens',
    about: oauthClient,
    demands: ['read-vcs-connections'],
    status: 200,
    trail: ['oauth_token index'],
  },
  {
    route: 'GET /oauth-tokens/:id',
    about: oauthToken,
    demands: ['read-vcs-connections'],
    status: 200,
    trail: ['oauth_token show'],
  },
  {
    route: 'PATCH /oauth-tokens/:id',
    about: oauthToken,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 200,
    trail: ['oauth_token update'],
    fresh: true,
    body: resource('oauth-tokens', { 'ssh-key': '-----BEGIN OPENSSH PRIVATE KEY-----' }),
  },
  {
    route: 'DELETE /oauth-tokens/:id',
    about: oauthToken,
    demands: ['read-vcs-connections', 'manage-vcs-connections'],
    status: 204,
    trail: ['oauth_token destroy'],
    fresh: true,
  },
];

const query = ({ world }: Pick<Cell, 'world'>): string =>
  `identifier=acme%2Fnetwork&oauth_token_id=${world.resources.oauthToken}`;

const hosts: readonly MatrixRow[] = [
  {
    route: 'GET /oauth-tokens/:id/authorized-repos',
    about: oauthToken,
    demands: ['read-vcs-connections'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/vcs/repo',
    query,
    about: organization,
    demands: ['read-vcs-connections'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/vcs/tree',
    query,
    about: organization,
    demands: ['read-vcs-connections'],
    status: 200,
  },
];

/** A workspace with the repository of the test host. */
const previewed: MatrixTarget = {
  ...workspace,
  fresh: async (caller, world) => {
    const created = await freshWorkspace(caller, world);
    const repository = { identifier: 'acme/network', 'oauth-token-id': world.resources.oauthToken };
    const body = resource('workspaces', { 'vcs-repo': repository });
    expectStatus(await world.server.patch(`/api/v2/workspaces/${created.id}`, body), 200);
    return { params: created };
  },
};

const previews: readonly MatrixRow[] = [
  {
    route: 'POST /workspaces/:id/commit-previews',
    about: previewed,
    demands: ['read-workspace', 'update-workspace'],
    status: 200,
    // A preview changes nothing.
    trail: [],
    inert: true,
    fresh: true,
    body: resource('commit-previews', { 'trigger-prefixes': ['network'] }),
  },
];

const webhooks: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/vcs-events',
    about: organization,
    demands: ['manage-vcs-connections'],
    status: 200,
  },
  {
    route: 'POST /webhooks/vcs/:id',
    about: { ...site, params: () => ({ id: 'none' }) },
    demands: 'anybody',
    status: 404,
    trail: [],
    successes: 'libs/runs/commits/webhooks.spec.ts',
  },
];

/** Sessions only, and no member in the matrix has started an authorization. */
const authorizations: readonly MatrixRow[] = [
  {
    route: 'GET /auth/vcs/:id',
    about: { ...site, params: () => ({ id: 'none' }) },
    demands: 'anybody',
    status: statusOf(404, 303),
    successes: 'libs/vcs/connections/host-authorizations.controller.spec.ts',
  },
  {
    route: 'GET /auth/vcs/callback/:host',
    about: { ...site, params: () => ({ host: 'none' }) },
    demands: 'anybody',
    status: statusOf(400, 303),
    successes: 'libs/vcs/connections/host-authorizations.controller.spec.ts',
  },
];

export const vcsRows: readonly MatrixRow[] = [
  ...clients,
  ...tokens,
  ...hosts,
  ...previews,
  ...webhooks,
  ...authorizations,
];
