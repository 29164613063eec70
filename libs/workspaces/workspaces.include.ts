import { sql, type Timestamp } from '#kernel';
import { may, type Actor } from '#access';
import type { Database } from '#event-store';
import { includesOf, withoutDoubles, type Query, type Resource } from '#json-api';
import type { CurrentRuns } from './current-runs.port.js';
import type { CurrentStates } from './current-states.port.js';
import type { StateOutputs } from './state-outputs.port.js';
import { tagBindingResource } from './tag-bindings.document.js';
import type { WorkspaceRow } from './workspaces.queries.js';

/** The values of contract §4.3, and those that clients add (clients.md §7). */
const INCLUDES = [
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'locked_by',
  'organization',
  'outputs',
  'project',
  'readme',
  'effective_tag_bindings',
  'tag_bindings',
] as const;

export type Include = (typeof INCLUDES)[number];

export const workspaceIncludes = (query: Query): ReadonlySet<Include> | null => includesOf(query, INCLUDES);

type Related = { readonly organizations: readonly Named[]; readonly projects: readonly Named[] };
type Named = { readonly id: string; readonly name: string; readonly email?: string; readonly createdAt: Timestamp };

type Neighbours = {
  readonly actor: Actor;
  readonly outputs: StateOutputs;
  readonly runs: CurrentRuns;
  readonly states: CurrentStates;
};

/** The resources that the includes ask for, each once, in one more statement at the most; what neighbours keep wants its own. */
export const includedWith = async (
  database: Database,
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<Include>,
  { actor, outputs, runs, states }: Neighbours,
): Promise<Resource[]> => {
  const included: Resource[] = [];
  if (includes.has('organization') || includes.has('project')) {
    const related = await relatedTo(database, rows);
    if (includes.has('organization')) included.push(...related.organizations.map(includedOrganization));
    if (includes.has('project')) included.push(...related.projects.map(includedProject));
  }
  if (includes.has('locked_by')) included.push(...rows.flatMap(includedHolder));
  if (includes.has('effective_tag_bindings') || includes.has('tag_bindings')) {
    for (const type of ['effective-tag-bindings', 'tag-bindings'] as const) {
      if (!includes.has(type.replaceAll('-', '_') as Include)) continue;
      included.push(...rows.flatMap((row) => row.tags.map((tag) => tagBindingResource(row.id, tag, type))));
    }
  }
  included.push(...(await runsOf(rows, includes, actor, runs)));
  included.push(...(await configurationsOf(rows, includes, actor, runs)));
  if (includes.has('current_state_version')) included.push(...(await statesOf(rows, actor, states)));
  if (includes.has('outputs')) included.push(...(await outputsOf(database, rows, actor, outputs)));
  return withoutDoubles(included);
};

const CURRENT_RUN = 'current_run';

/** Current runs with what belongs to them, and those that hold the lock; where the caller may read them. */
const runsOf = async (
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<Include>,
  actor: Actor,
  runs: CurrentRuns,
): Promise<readonly Resource[]> => {
  const asked = [...includes].filter((name) => name === CURRENT_RUN || name.startsWith(`${CURRENT_RUN}.`));
  const holding = includes.has('locked_by');
  const ids = rows
    .filter((row) => may(actor, 'read-runs', row))
    .flatMap(({ currentRun, lock }) => [
      ...(asked.length > 0 && currentRun ? [currentRun] : []),
      ...(holding && lock?.holder.type === 'runs' ? [lock.holder.id] : []),
    ]);
  if (ids.length === 0) return [];
  return runs.included([...new Set(ids)], new Set(asked.map((name) => name.slice(CURRENT_RUN.length + 1))), actor);
};

/** What they are made of, commits, no configuration has yet. */
const configurationsOf = async (
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<Include>,
  actor: Actor,
  runs: CurrentRuns,
): Promise<readonly Resource[]> => {
  const asked = [...includes].some((name) => name.startsWith('current_configuration_version'));
  const ids = rows
    .filter((row) => asked && may(actor, 'read-configuration-version', row))
    .flatMap(({ currentConfigurationVersion }) => currentConfigurationVersion ?? []);
  return ids.length === 0 ? [] : runs.configurations(ids, actor);
};

const statesOf = async (
  rows: readonly WorkspaceRow[],
  actor: Actor,
  states: CurrentStates,
): Promise<readonly Resource[]> => {
  const ids = rows.filter((row) => may(actor, 'read-state', row)).flatMap((row) => row.currentStateVersion ?? []);
  return ids.length === 0 ? [] : states.included(ids, actor);
};

type Output = {
  readonly id: string;
  readonly stateVersion: string;
  readonly name: string;
  readonly sensitive: boolean;
  readonly type: string;
};

/** Outputs of the current states that the caller may know; one file after the other, for each is read as a whole. */
const outputsOf = async (
  database: Database,
  rows: readonly WorkspaceRow[],
  actor: Actor,
  values: StateOutputs,
): Promise<Resource[]> => {
  const versions = rows.flatMap((row) =>
    row.currentStateVersion && may(actor, 'read-state-outputs', row) ? [row.currentStateVersion] : [],
  );
  const outputs = await database.rows<Output>(sql`
    select s.id, s.state_version as "stateVersion", s.name, s.sensitive, s.type from state_version_outputs s
     where s.state_version = any (${versions}::text[]) order by s.state_version, s.name`);
  const included: Resource[] = [];
  for (const [version, of] of Map.groupBy(outputs, ({ stateVersion }) => stateVersion)) {
    const open = of.some(({ sensitive }) => !sensitive);
    const known: ReadonlyMap<string, unknown> = open ? await values.outputValues(version) : new Map();
    included.push(...of.map((output) => includedOutput(output, known.get(output.name) ?? null)));
  }
  return included;
};

const includedOutput = ({ id, name, sensitive, type }: Output, value: unknown): Resource => ({
  id,
  type: 'workspace-outputs',
  attributes: { name, sensitive, 'output-type': type, value: sensitive ? null : value },
});

const relatedTo = async (database: Database, rows: readonly WorkspaceRow[]): Promise<Related> => {
  const organizations = [...new Set(rows.map((row) => row.organization))];
  const projects = [...new Set(rows.map((row) => row.project))];
  const row = await database.row<Related>(sql`
    select coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'email', email, 'createdAt', created_at))
                       from organizations where id = any (${organizations}::text[])), '[]') as organizations,
           coalesce((select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'createdAt', created_at))
                       from projects where id = any (${projects}::text[])), '[]') as projects`);
  return row ?? { organizations: [], projects: [] };
};

const includedOrganization = ({ id, name, email }: Named): Resource => ({
  id: name,
  type: 'organizations',
  attributes: { name, 'external-id': id, email },
  links: { self: `/api/v2/organizations/${name}` },
});

const includedProject = ({ id, name }: Named): Resource => ({
  id,
  type: 'projects',
  attributes: { name },
  links: { self: `/api/v2/projects/${id}` },
});

const includedHolder = ({ lock }: WorkspaceRow): Resource[] => {
  if (!lock || lock.holder.type === 'runs') return [];
  const { type, id, name } = lock.holder;
  return [{ id, type, attributes: type === 'users' ? { username: name } : { name } }];
};
