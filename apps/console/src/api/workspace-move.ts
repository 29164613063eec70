import { queryOptions } from '@tanstack/react-query';
import { ApiError, readData, readDocument } from './api-error.js';
import type { AccessCell } from './access.js';
import { targetProjectQuery, type TargetProject } from './bulk-changes.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { projectQuery, type Project } from './projects.js';
import type { Workspace } from './workspaces.js';

/** The access of a team through the project, before and after a move. Null: none. */
type MovedAccess = {
  /** The id of the team. */
  readonly team: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The access that the team has to the workspace itself, and keeps. */
  readonly own: string | null;
};

/** The differences for a workspace between its project and another one. Null: the person may not see them. */
export type MoveEffect = {
  readonly target: TargetProject;
  readonly project: Project;
  readonly accesses: readonly MovedAccess[] | null;
  readonly variableSets: { readonly left: readonly string[]; readonly joined: readonly string[] } | null;
};

/** Returns null instead of what the person may not read. */
const readPermitted = async <T>(reading: Promise<T>): Promise<T | null> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && (error.isNotFound || error.status === 403)) return null;
    throw error;
  }
};

const readCells = async (
  organization: string,
  { id, project, name }: { readonly id: string; readonly project: string; readonly name?: string },
  signal: AbortSignal,
): Promise<readonly AccessCell[] | null> => {
  const query = { 'filter[project][id]': project, 'page[size]': 100, ...(name === undefined ? {} : { q: name }) };
  const params = { path: { organization }, query };
  const rows = await readPermitted(
    readData(api.GET('/api/v2/organizations/{organization}/access-rows', { params, signal })),
  );
  return rows?.find((row) => row.id === id)?.attributes.accesses ?? null;
};

const findLevel = (cells: readonly AccessCell[], team: string, on: AccessCell['on']): string | null =>
  cells.find((cell) => cell.team === team && cell.on === on)?.level ?? null;

const compareAccesses = (present: readonly AccessCell[], target: readonly AccessCell[]): readonly MovedAccess[] => {
  const teams = [...new Set([...present, ...target].map(({ team }) => team))];
  return teams
    .map((team) => ({
      team,
      before: findLevel(present, team, 'project'),
      after: findLevel(target, team, 'project'),
      own: findLevel(present, team, 'workspace'),
    }))
    .filter(({ before, after }) => before !== after);
};

const readSetNames = (project: string, signal: AbortSignal) => {
  const params = { path: { id: project }, query: { 'page[size]': 100 } };
  return readPermitted(
    readDocument(api.GET('/api/v2/projects/{id}/varsets', { params, signal })).then(({ data }) =>
      data.map(({ attributes }) => attributes.name),
    ),
  );
};

const readVariableSets = async (from: string, to: string, signal: AbortSignal): Promise<MoveEffect['variableSets']> => {
  const [before, after] = await Promise.all([readSetNames(from, signal), readSetNames(to, signal)]);
  if (!before || !after) return null;
  return {
    left: before.filter((name) => !after.includes(name)),
    joined: after.filter((name) => !before.includes(name)),
  };
};

const readAccesses = async (
  organization: string,
  { id, attributes, relationships }: Workspace,
  to: string,
  signal: AbortSignal,
): Promise<MoveEffect['accesses']> => {
  const workspace = { id, project: relationships.project.data.id, name: attributes.name };
  const [present, target] = await Promise.all([
    readCells(organization, workspace, signal),
    readCells(organization, { id: to, project: to }, signal),
  ]);
  return present && target ? compareAccesses(present, target) : null;
};

/** The effect of a move of the workspace to the project with the id `to`. */
export const moveEffectQuery = (organization: string, workspace: Workspace, to: string) =>
  queryOptions({
    // Not below the key of the workspaces, because live messages must not change a preview that a person reads.
    queryKey: [
      ...organizationKey(organization),
      'move-effect',
      workspace.id,
      workspace.relationships.project.data.id,
      to,
    ],
    gcTime: 0,
    queryFn: async ({ signal, client }): Promise<MoveEffect> => {
      const [target, project, accesses, variableSets] = await Promise.all([
        client.fetchQuery(targetProjectQuery(organization, to)),
        client.fetchQuery(projectQuery(organization, to)),
        readAccesses(organization, workspace, to, signal),
        readVariableSets(workspace.relationships.project.data.id, to, signal),
      ]);
      return { target, project, accesses, variableSets };
    },
  });
