import { SITE_SCOPE } from '#api/access';
import { makeWorkspace, resource } from '../../support/seeds.js';
import { startTestSession } from '../../support/sessions.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import {
  agentPool,
  inAcme,
  currentUser,
  openTeam,
  organization,
  ownersTeam,
  ownTeam,
  person,
  plainMember,
  remotePool,
  secretTeam,
  site,
  sitePool,
  createTarget,
  tokensOfOwnTeam,
} from '../targets.js';
import { makeSpeculativeRun, type MatrixWorld } from '../shared-world.js';
import { TOKEN_OWNERS, TOKENS_OF_SITE } from '../token-owners.js';

const TEAMS = [
  { when: 'a visible team', about: openTeam, sees: ['read-teams'], tokens: openTeam },
  { when: 'a secret team', about: secretTeam, sees: ['read-teams', 'read-secret-teams'], tokens: secretTeam },
  { when: 'their own', about: ownTeam, sees: ['read-teams', 'read-secret-teams'], tokens: tokensOfOwnTeam },
] as const;

const tokenBody = (world: MatrixWorld): object =>
  resource('authentication-tokens', { description: world.unique('token') });

const makesToken =
  (path: (id: string) => string): NonNullable<MatrixRow['before']> =>
  ({ world, params }) =>
    world.server.post(`/api/v2/${path(params['id'] ?? '')}`);
const makesOnlyToken = makesToken((id) => `teams/${id}/authentication-token`);

const ofTeam = (
  about: MatrixTarget,
  condition: string,
  demands: NonNullable<Extract<MatrixRow['demands'], readonly unknown[]>>,
): MatrixRow[] => [
  { route: 'GET /teams/:id/authentication-tokens', condition, about, demands, status: 200 },
  {
    route: 'POST /teams/:id/authentication-tokens',
    condition,
    about,
    demands,
    status: 201,
    trail: ['authentication_token create'],
    bodyFor: ({ world }) => tokenBody(world),
  },
  {
    route: 'GET /teams/:id/authentication-token',
    condition,
    about,
    demands,
    status: 200,
    trail: ['authentication_token show'],
    before: makesOnlyToken,
  },
  {
    route: 'POST /teams/:id/authentication-token',
    condition,
    about,
    demands,
    status: 201,
    // The team has a token of this kind already, which the new one replaces.
    trail: ['authentication_token destroy', 'authentication_token create'],
    before: makesOnlyToken,
  },
  {
    route: 'DELETE /teams/:id/authentication-token',
    condition,
    about,
    demands,
    status: 204,
    trail: ['authentication_token destroy'],
    before: makesOnlyToken,
  },
];

const teamTokens: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/team-tokens',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    nameOf: ({ relationships }) => relationships.team.data.id as string,
    shows: ({ caller, world, may }) => {
      const { openTeam: open, secretTeam: secret, acme } = world;
      const manages = may('manage-team-tokens', inAcme(caller, world));
      const secrets = world.callers.filter(
        ({ authentication, roles }) => authentication === 'team' && !roles.includes('owner'),
      );
      return [
        ...(manages ? [open, open] : []),
        ...(manages && may('read-secret-teams', inAcme(caller, world))
          ? [secret, ...secrets.map(({ team }) => team)]
          : []),
        ...(may('manage-owners', inAcme(caller, world)) ? Array.from({ length: 4 }, () => acme.ownersTeam) : []),
      ];
    },
  },
  ...TEAMS.flatMap(({ when, about, sees, tokens }) =>
    ofTeam(about, when, [...sees, ['manage-team-tokens', tokens] as const]),
  ),
  ...ofTeam(ownersTeam, 'the team of owners', ['read-teams', 'manage-owners']),
];

/** A session of a plain member. Each request has one of its own, because others end all sessions of the member. */
const sessionOfMember: MatrixTarget = {
  ...person,
  fresh: async (_, world) => ({ params: { id: (await startTestSession(world.server, plainMember(world).id)).id } }),
};

const freshlyFounded = (kind: string): Pick<MatrixRow, 'fresh' | 'before'> => ({
  fresh: true,
  before: ({ world, params }) =>
    world.server.post(`/api/v2/organizations/${params['organization']}/authentication-token${kind}`),
});

const otherTokens: readonly MatrixRow[] = [
  ...['', '?token=audit-trails'].flatMap((kind): MatrixRow[] => {
    const row = {
      about: organization,
      demands: ['manage-organization-tokens'],
      ...(kind === '' ? {} : { condition: 'for the trail', query: () => kind.slice(1) }),
    } as const;
    const route = '/organizations/:organization/authentication-token';
    return [
      { ...row, route: `GET ${route}`, status: 200, trail: ['authentication_token show'] },
      { ...row, route: `POST ${route}`, status: 201, trail: ['authentication_token create'], fresh: true },
      {
        ...row,
        route: `DELETE ${route}`,
        status: 204,
        trail: ['authentication_token destroy'],
        ...freshlyFounded(kind),
      },
    ];
  }),
  ...[
    { when: 'their own', about: currentUser },
    { when: 'a member’s', about: person },
  ].flatMap(({ when: condition, about }): MatrixRow[] => [
    { route: 'GET /users/:id/authentication-tokens', condition, about, demands: ['manage-user-tokens'], status: 200 },
    {
      route: 'POST /users/:id/authentication-tokens',
      condition,
      about,
      demands: ['manage-user-tokens'],
      status: 201,
      trail: ['authentication_token create'],
    },
  ]),
  ...[
    { when: 'their own', about: currentUser },
    { when: 'a member’s', about: person },
  ].flatMap(({ when: condition, about }): MatrixRow[] => [
    { route: 'GET /users/:id/sessions', condition, about, demands: ['manage-sessions'], status: 200 },
    { route: 'GET /users/:id/account-changes', condition, about, demands: ['manage-sessions'], status: 200 },
  ]),
  {
    route: 'DELETE /users/:id/sessions',
    about: person,
    demands: ['manage-sessions'],
    status: 204,
    before: ({ world }) => startTestSession(world.server, plainMember(world).id),
    trail: ['session destroy'],
  },
  { route: 'GET /sessions/:id', about: sessionOfMember, demands: ['manage-sessions'], status: 200, fresh: true },
  {
    route: 'DELETE /sessions/:id',
    about: sessionOfMember,
    demands: ['manage-sessions'],
    status: 204,
    fresh: true,
    trail: ['session destroy'],
  },
  { route: 'GET /admin/scim-tokens', about: site, demands: ['manage-scim-tokens'], status: 200 },
  {
    route: 'POST /admin/scim-tokens',
    about: site,
    demands: ['manage-scim-tokens'],
    status: 201,
    trail: ['authentication_token create'],
    bodyFor: ({ world }) => tokenBody(world),
  },
  {
    route: 'GET /agent-pools/:id/authentication-tokens',
    about: agentPool,
    demands: ['manage-agent-tokens'],
    status: 200,
  },
  {
    route: 'POST /agent-pools/:id/authentication-tokens',
    about: agentPool,
    demands: ['manage-agent-tokens'],
    status: 201,
    trail: ['authentication_token create'],
    bodyFor: ({ world }) => tokenBody(world),
  },
];

/** The holder of such a token reads and writes the state of every workspace in `remote` mode. */
const remotePoolTokens: readonly MatrixRow[] = [
  {
    route: 'GET /agent-pools/:id/authentication-tokens',
    condition: 'of a pool for remote runs',
    about: remotePool,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
    status: 200,
  },
  {
    route: 'POST /agent-pools/:id/authentication-tokens',
    condition: 'of a pool for remote runs',
    about: remotePool,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
    status: 201,
    trail: ['authentication_token create'],
    bodyFor: ({ world }) => tokenBody(world),
  },
];

const sitePoolTokens: readonly MatrixRow[] = [
  {
    route: 'GET /agent-pools/:id/authentication-tokens',
    condition: 'of a pool of the site',
    about: sitePool,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
    status: 200,
  },
  {
    route: 'POST /agent-pools/:id/authentication-tokens',
    condition: 'of a pool of the site',
    about: sitePool,
    demands: ['manage-agent-tokens', 'manage-remote-agent-pools'],
    status: 201,
    trail: ['authentication_token create'],
    bodyFor: ({ world }) => tokenBody(world),
  },
];

/** A run that waits in a workspace in `remote` mode while its row is tested. Before that, an unknown one. */
const remoteRun = { workspace: '', id: 'run-doesnotexist0' };

const runTokens: readonly MatrixRow[] = [
  {
    route: 'POST /runs/:id/authentication-tokens',
    condition: 'in remote mode, by agents of a pool that no owner has chosen',
    about: { scope: () => SITE_SCOPE, params: () => ({ id: remoteRun.id }) },
    demands: ['execute-run'],
    status: 201,
    trail: ['authentication_token create'],
    setUp: async ({ server, acme, unique }) => {
      remoteRun.workspace = await makeWorkspace(server, acme.name, unique('remote'), { 'execution-mode': 'remote' });
      remoteRun.id = await makeSpeculativeRun(server, remoteRun.workspace);
    },
    tearDown: ({ server }) => server.delete(`/api/v2/workspaces/${remoteRun.workspace}`),
  },
  {
    route: 'POST /runs/:id/authentication-tokens',
    about: createTarget(inAcme, 'run'),
    demands: ['execute-run'],
    status: 201,
    trail: ['authentication_token create'],
  },
];

/** Access to a token by its id depends on its owner. */
const tokensById: readonly MatrixRow[] = TOKEN_OWNERS.flatMap(({ condition, of, path, by, demands }): MatrixRow[] => {
  const fresh: MatrixTarget['fresh'] = async (_, world) => {
    const response = await (by?.(world) ?? world.server).post(`/api/v2/${path(world)}`, tokenBody(world));
    return { params: { id: response.body.data.id as string } };
  };
  const about: MatrixTarget = { scope: of.scope, params: (_, { tokens }) => ({ id: tokens[condition] ?? '' }), fresh };
  return [
    {
      route: 'GET /authentication-tokens/:id',
      condition,
      about,
      demands,
      status: 200,
      trail: TOKENS_OF_SITE.includes(condition) ? [] : ['authentication_token show'],
    },
    {
      route: 'DELETE /authentication-tokens/:id',
      condition,
      about,
      demands,
      status: 204,
      trail: ['authentication_token destroy'],
      fresh: true,
    },
  ];
});

export const tokens: readonly MatrixRow[] = [
  ...teamTokens,
  ...otherTokens,
  ...remotePoolTokens,
  ...sitePoolTokens,
  ...runTokens,
  ...tokensById,
];
