import { makeMember, resource } from '../../support/seeds.js';
import type { Cell, MatrixRow, MatrixTarget } from '../matrix.js';
import { anOwner, inAcme, isInTeam, openTeam, organization, ownersTeam, ownTeam, secretTeam } from '../targets.js';
import type { MatrixCallerInWorld } from '../shared-world.js';

const TEAMS = [
  { when: 'a visible team', about: openTeam, sees: ['read-teams'] },
  { when: 'a secret team', about: secretTeam, sees: ['read-teams', 'read-secret-teams'] },
  { when: 'their own', about: ownTeam, sees: ['read-teams', 'read-secret-teams'] },
] as const;

const hasTeam = ({ team, roles, foreign }: MatrixCallerInWorld): boolean =>
  team !== '' && !roles.includes('owner') && !foreign;

const changed: NonNullable<MatrixRow['bodyFor']> = ({ world }) =>
  resource('teams', { 'sso-team-id': world.unique('sso') });

/** Property of a caller that names the member, for each way to name members. */
const MEMBER_NAMES = { users: 'short', 'organization-memberships': 'membership' } as const;

/** The team, with a guest who is a member already or not yet. */
const withGuest = (team: MatrixTarget, isIn: boolean): MatrixTarget => ({
  ...team,
  fresh: async (caller, world) => {
    const { id = '' } = (await team.fresh?.(caller, world))?.params ?? team.params(caller, world);
    const guest = await makeMember(world.server, world.acme.name, world.unique('guest'), isIn ? [id] : []);
    return { params: { id, users: guest.username, 'organization-memberships': guest.membership } };
  },
});

export const teams: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/teams',
    about: organization,
    demands: ['read-teams'],
    status: 200,
    query: () => 'page[size]=100',
    shows: ({ caller, world, may }) => [
      'owners',
      'open',
      ...(may('read-secret-teams', inAcme(caller, world))
        ? ['secret', ...world.callers.filter(hasTeam).map(({ short }) => short)]
        : isInTeam(caller)
          ? [caller.short]
          : []),
    ],
  },
  {
    route: 'POST /organizations/:organization/teams',
    about: organization,
    demands: ['manage-teams'],
    status: 201,
    trail: ['team create'],
    bodyFor: ({ world }) => resource('teams', { name: world.unique('made') }),
  },
  {
    route: 'POST /organizations/:organization/teams',
    condition: 'with access to the organization',
    about: organization,
    demands: ['manage-teams', 'manage-organization-access'],
    status: 201,
    trail: ['team create'],
    bodyFor: ({ world }) =>
      resource('teams', { name: world.unique('made'), 'organization-access': { 'manage-teams': true } }),
  },
  ...TEAMS.flatMap(({ when: condition, about, sees }): MatrixRow[] => [
    { route: 'GET /teams/:id', condition, about, demands: sees, status: 200 },
    {
      route: 'GET /teams/:id/relationships/organization-memberships',
      condition,
      about,
      demands: sees,
      status: 200,
      trail: ['user index'],
    },
    {
      route: 'PATCH /teams/:id',
      condition,
      about,
      demands: [...sees, 'manage-teams'],
      status: 200,
      trail: ['team update'],
      bodyFor: changed,
    },
  ]),
  { route: 'GET /teams/:id', condition: 'the team of owners', about: ownersTeam, demands: ['read-teams'], status: 200 },
  {
    route: 'PATCH /teams/:id',
    condition: 'the team of owners',
    about: ownersTeam,
    demands: ['read-teams', 'manage-owners'],
    status: 200,
    trail: ['team update'],
    bodyFor: changed,
  },
  {
    route: 'PATCH /teams/:id',
    condition: 'its access to the organization',
    about: openTeam,
    demands: ['read-teams', 'manage-teams', 'manage-organization-access'],
    status: 200,
    trail: ['team update'],
    fresh: true,
    body: resource('teams', { 'organization-access': { 'manage-teams': true } }),
  },
  {
    route: 'DELETE /teams/:id',
    about: openTeam,
    demands: ['read-teams', 'manage-teams'],
    status: 204,
    trail: ['team destroy'],
    fresh: true,
  },
  ...(['POST', 'DELETE'] as const).flatMap((method): MatrixRow[] =>
    (['users', 'organization-memberships'] as const).flatMap((by): MatrixRow[] => {
      const isIn = method === 'DELETE';
      const row = {
        route: `${method} /teams/:id/relationships/${by}`,
        status: 204,
        trail: [isIn ? 'team remove_member' : 'team add_member'],
        fresh: true,
        bodyFor: ({ world, params }: Cell) => ({
          data: [{ type: by, id: params[by] ?? anOwner(world)[MEMBER_NAMES[by]] }],
        }),
      } as const;
      return [
        { ...row, about: withGuest(openTeam, isIn), demands: ['read-teams', 'manage-team-membership'] },
        {
          ...row,
          condition: 'the team of owners',
          about: withGuest(ownersTeam, isIn),
          demands: ['read-teams', 'manage-owners'],
        },
      ];
    }),
  ),
];
