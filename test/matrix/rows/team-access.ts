import { resource } from '../../support/seeds.js';
import type { MatrixRequest, MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, onTheProject, onTheWorkspace, project, site, workspace } from '../targets.js';

const accessOn = (on: 'workspace' | 'project') =>
  ({
    place: on === 'workspace' ? onTheWorkspace : onTheProject,
    read: `read-${on}-access`,
    manage: `manage-${on}-access`,
  }) as const;

export const teamAccess: readonly MatrixRow[] = (['workspace', 'project'] as const).flatMap((on): MatrixRow[] => {
  const { place: scope, read, manage } = accessOn(on);
  const at = on === 'workspace' ? workspace : project;
  const path = `/team-${on}s`;
  const of = (team: 'open' | 'secret'): MatrixTarget => ({
    scope,
    params: (_, { access }) => ({ id: access[`${team} on the ${on}`] ?? '' }),
    fresh: async (caller, world) => {
      const { params } = (await at.fresh?.(caller, world)) ?? { params: {} };
      const id = team === 'open' ? world.openTeam : world.secretTeam;
      const response = await world.server.post(`/api/v2${path}`, accessBody(on, id, params['id'] ?? ''));
      return { params: { id: response.body.data.id as string } };
    },
  });
  const seesSecretTeams = { anyOf: [manage, 'read-secret-teams'] } as const;
  return [
    {
      route: `GET ${path}`,
      about: { ...site, scope },
      demands: [read],
      status: 200,
      query: ({ world }) => `filter[${on}][id]=${on === 'workspace' ? world.one : world.land}&page[size]=100`,
      nameOf: ({ relationships }) => relationships.team.data.id as string,
      shows: (request) => teamsInList(on, request, manage),
    },
    {
      route: `POST ${path}`,
      about: { ...at, scope },
      demands: [manage],
      status: 201,
      trail: [`${on} add_team`],
      fresh: true,
      bodyFor: ({ world, params }) => accessBody(on, world.openTeam, params['id'] ?? ''),
    },
    { route: `GET ${path}/:id`, about: of('open'), demands: [read], status: 200 },
    {
      route: `GET ${path}/:id`,
      condition: 'a secret team’s',
      about: of('secret'),
      demands: [read, seesSecretTeams],
      status: 200,
    },
    {
      route: `PATCH ${path}/:id`,
      about: of('open'),
      demands: [manage],
      status: 200,
      trail: [`${on} update_team_permissions`],
      fresh: true,
      body: resource(`team-${on}s`, { access: 'write' }),
    },
    {
      route: `DELETE ${path}/:id`,
      about: of('open'),
      demands: [manage],
      status: 204,
      trail: [`${on} remove_team`],
      fresh: true,
    },
    {
      route: `DELETE ${path}/:id`,
      condition: 'a secret team’s',
      about: of('secret'),
      demands: [manage],
      status: 204,
      trail: [`${on} remove_team`],
      fresh: true,
    },
  ];
});

const accessBody = (on: 'workspace' | 'project', team: string, id: string): object =>
  resource(
    `team-${on}s`,
    { access: 'read' },
    {
      team: { data: { type: 'teams', id: team } },
      [on]: { data: { type: `${on}s`, id } },
    },
  );

/**
 * Returns the teams in the list. Callers that manage access see every team, others only teams that are visible to them.
 */
const teamsInList = (
  on: 'workspace' | 'project',
  { caller, world, may }: MatrixRequest,
  manage: 'manage-workspace-access' | 'manage-project-access',
): string[] => {
  const scope = on === 'workspace' ? onTheWorkspace(caller, world) : onTheProject(caller, world);
  const seesAll = may(manage, scope) || may('read-secret-teams', inAcme(caller, world));
  const secret = [world.secretTeam, ...world.callers.filter((one) => one.setup?.on === on).map(({ team }) => team)];
  return [world.openTeam, ...secret.filter((team) => seesAll || team === caller.team)];
};
