import { resource } from '../../support/seeds.js';
import type { Row } from '../matrix.js';
import {
  anOwner,
  inAcme,
  isInTeam,
  openTeam,
  organization,
  ownersTeam,
  ownTeam,
  plainMember,
  secretTeam,
} from '../targets.js';
import type { Arrived, World } from '../land.js';

const TEAMS = [
  { when: 'an open one', about: openTeam, sees: ['read-teams'] },
  { when: 'a secret one', about: secretTeam, sees: ['read-teams', 'read-secret-teams'] },
  { when: 'their own', about: ownTeam, sees: ['read-teams', 'read-secret-teams'] },
] as const;

const hasTeam = ({ team, standing, foreign }: Arrived): boolean =>
  team !== '' && !standing.includes('owner') && !foreign;

export const teams: readonly Row[] = [
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
    bodyFor: ({ world }) => resource('teams', { name: world.unique('made') }),
  },
  {
    route: 'POST /organizations/:organization/teams',
    when: 'with access to the organization',
    about: organization,
    demands: ['manage-teams', 'manage-organization-access'],
    status: 201,
    bodyFor: ({ world }) =>
      resource('teams', { name: world.unique('made'), 'organization-access': { 'manage-teams': true } }),
  },
  ...TEAMS.flatMap(({ when, about, sees }): Row[] => [
    { route: 'GET /teams/:id', when, about, demands: sees, status: 200 },
    { route: 'GET /teams/:id/relationships/organization-memberships', when, about, demands: sees, status: 200 },
    {
      route: 'PATCH /teams/:id',
      when,
      about,
      demands: [...sees, 'manage-teams'],
      status: 200,
      body: resource('teams'),
    },
  ]),
  { route: 'GET /teams/:id', when: 'the owners', about: ownersTeam, demands: ['read-teams'], status: 200 },
  {
    route: 'PATCH /teams/:id',
    when: 'the owners',
    about: ownersTeam,
    demands: ['read-teams', 'manage-owners'],
    status: 200,
    body: resource('teams'),
  },
  {
    route: 'PATCH /teams/:id',
    when: 'its access to the organization',
    about: openTeam,
    demands: ['read-teams', 'manage-teams', 'manage-organization-access'],
    status: 200,
    fresh: true,
    body: resource('teams', { 'organization-access': { 'manage-teams': true } }),
  },
  { route: 'DELETE /teams/:id', about: openTeam, demands: ['read-teams', 'manage-teams'], status: 204, fresh: true },
  ...['POST', 'DELETE'].flatMap((method): Row[] =>
    (['users', 'organization-memberships'] as const).flatMap((by): Row[] => {
      const row = {
        route: `${method} /teams/:id/relationships/${by}`,
        status: 204,
        // Someone who owns acme anyway.
        bodyFor: ({ world }: { readonly world: World }) => ({
          data: [{ type: by, id: by === 'users' ? anOwner(world).short : anOwner(world).membership }],
        }),
      };
      return [
        { ...row, about: openTeam, demands: ['read-teams', 'manage-team-membership'], fresh: true },
        {
          ...row,
          when: 'the owners',
          about: ownersTeam,
          demands: ['read-teams', 'manage-owners'],
          ...(method === 'DELETE'
            ? {
                bodyFor: ({ world }) => ({
                  data: [{ type: by, id: by === 'users' ? 'x' : plainMember(world).membership }],
                }),
              }
            : {}),
        },
      ];
    }),
  ),
];
