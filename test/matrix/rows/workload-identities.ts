import { makeWorkloadIdentity, workloadIdentityBody } from '../../support/workload-identities.js';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { openTeam, ownersTeam, ownTeam, secretTeam, tokensOfOwnTeam } from '../targets.js';

/** The same permissions as for tokens of the team (rows/tokens.ts). */
const TEAMS = [
  { condition: 'a visible team', team: openTeam, demands: ['read-teams', 'manage-team-tokens'] },
  {
    condition: 'a secret team',
    team: secretTeam,
    demands: ['read-teams', 'read-secret-teams', 'manage-team-tokens'],
  },
  {
    condition: 'their own',
    team: ownTeam,
    demands: ['read-teams', 'read-secret-teams', ['manage-team-tokens', tokensOfOwnTeam]],
  },
  { condition: 'the team of owners', team: ownersTeam, demands: ['read-teams', 'manage-owners'] },
] as const satisfies readonly {
  readonly condition: string;
  readonly team: MatrixTarget;
  readonly demands: MatrixRow['demands'];
}[];

/** Ids of identities that no request changes, by team. */
const sharedBy = new WeakMap<MatrixWorld['server'], Map<string, string>>();

const getShared = ({ server }: MatrixWorld): Map<string, string> => {
  const shared = sharedBy.get(server) ?? new Map<string, string>();
  sharedBy.set(server, shared);
  return shared;
};

const identityOf = (team: MatrixTarget): MatrixTarget => ({
  scope: team.scope,
  params: (caller, world) => ({ id: getShared(world).get(team.params(caller, world)['id'] ?? '') ?? '' }),
  fresh: async (caller, world) => {
    const { id = '' } = team.params(caller, world);
    return { params: { id: await makeWorkloadIdentity(world.server, id, world.unique('identity')) } };
  },
});

const makeShared =
  (team: MatrixTarget): NonNullable<MatrixRow['setUp']> =>
  async (world) => {
    const shared = getShared(world);
    for (const caller of world.callers) {
      const { id = '' } = team.params(caller, world);
      if (!shared.has(id)) shared.set(id, await makeWorkloadIdentity(world.server, id, 'shared'));
    }
  };

const ofTeam = ({ condition, team, demands }: (typeof TEAMS)[number]): MatrixRow[] => {
  const row = { condition, demands } as const;
  const identity = { ...row, about: identityOf(team), setUp: makeShared(team) };
  return [
    {
      ...row,
      route: 'GET /teams/:id/workload-identities',
      about: team,
      status: 200,
      setUp: makeShared(team),
      shows: () => ['shared'],
    },
    { ...identity, route: 'GET /workload-identities/:id', status: 200 },
    {
      ...row,
      route: 'POST /teams/:id/workload-identities',
      about: team,
      status: 201,
      trail: ['workload_identity create'],
      bodyFor: ({ world }) => workloadIdentityBody(world.unique('made')),
    },
    {
      ...identity,
      route: 'PATCH /workload-identities/:id',
      status: 200,
      trail: ['workload_identity update'],
      fresh: true,
      body: resource('workload-identities', { 'token-minutes': 5 }),
    },
    {
      ...identity,
      route: 'DELETE /workload-identities/:id',
      status: 204,
      trail: ['workload_identity destroy'],
      fresh: true,
    },
  ];
};

export const workloadIdentities: readonly MatrixRow[] = TEAMS.flatMap(ofTeam);
