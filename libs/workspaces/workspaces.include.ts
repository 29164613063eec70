import { badRequest, sql, type Sql } from '#kernel';
import { type Actor, type Person } from '#access';
import { relatedTeams, relatedUsers } from '#people';
import { relatedEffectiveTagBindings, relatedTagBindings } from '#tag-bindings';
import type { Database } from '#event-store';
import {
  AS_OF,
  includesOf,
  parameter,
  readRelated,
  relatedAt,
  slowForLists,
  type PointInTime,
  type Query,
  type Related,
  type Resource,
} from '#json-api';
import { relatedOrganizations, relatedProjects } from '#organizations';
import type { CurrentRuns } from './current-runs.port.js';
import type { CurrentStates } from './current-states.port.js';
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

/** Resources that the history has: with as-of they are included as they were then. */
const IN_HISTORY: ReadonlySet<Include> = new Set(['organization', 'project', 'effective_tag_bindings', 'tag_bindings']);

/** What never changes once a workspace has it is included as it is, and there never is a readme. */
const UNCHANGING: ReadonlySet<Include> = new Set(['current_state_version', 'outputs', 'readme']);

export const workspaceIncludes = (query: Query): ReadonlySet<Include> | null => {
  const includes = includesOf(query, INCLUDES);
  if (!includes || !parameter(query, AS_OF)) return includes;
  const accepted = INCLUDES.filter((include) => IN_HISTORY.has(include) || UNCHANGING.has(include));
  const refused = [...includes].filter((include) => !accepted.includes(include));
  if (refused.length === 0) return includes;
  throw badRequest(
    `include: ${refused.join(', ')} cannot be combined with as-of, because the history has no past versions of users, ` +
      `teams, runs and configuration versions. Accepted are ${accepted.join(', ')}`,
    'include',
  );
};

type Neighbours = { readonly actor: Actor; readonly runs: CurrentRuns; readonly states: CurrentStates };

/**
 * The resources that the includes ask for, in one more statement at the most, whoever keeps them. `past`: the point in time that
 * the rows were read at.
 */
export const includedWith = async (
  database: Database,
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<Include>,
  neighbours: Neighbours,
  past: PointInTime | null = null,
): Promise<Resource[]> => {
  const organizationId = rows[0]?.organization ?? '';
  const wanted = WAYS.flatMap(([value, named, lent]) => {
    // Who asks for what belongs to a run is told of the run, too (JSON:API, full linkage).
    const asked = [...includes].filter((include) => include === value || include.startsWith(`${value}.`));
    const ids = asked.length > 0 ? [...new Set(rows.flatMap((row) => named(row) ?? []))] : [];
    const more = new Set(asked.map((include) => include.slice(value.length + 1)));
    const resources = ids.length > 0 ? lent(sql`${ids}::text[]`, neighbours, more) : [];
    if (past === null || !IN_HISTORY.has(value)) return resources;
    return resources.map((one) => relatedAt(one, past, { organizationId }));
  });
  const slowFor = past === null ? slowForLists(neighbours.actor, rows) : neighbours.actor;
  const resources = await readRelated(database, wanted, slowFor);
  return includes.has('project') ? resources.map(withoutCircle) : resources;
};

/**
 * Beside projects an organization names its default one by a link alone. go-tfe looks up every identifier in what came
 * along: from that project it is back at the organization, and goes round until its stack overflows
 * (hashicorp/go-tfe#1020).
 */
const withoutCircle = (resource: Resource): Resource => {
  const { 'default-project': named } = resource.relationships ?? {};
  if (!named) return resource;
  const { data: _, ...link } = named;
  return { ...resource, relationships: { ...resource.relationships, 'default-project': link } };
};

/** A value of `include`, what it names in a row, and who knows what that stands for. */
type Way = readonly [
  value: Include,
  named: (row: WorkspaceRow) => string | null,
  lent: (ids: Sql, neighbours: Neighbours, more: ReadonlySet<string>) => readonly Related[],
];

const holder =
  (type: Person['type']) =>
  ({ lock }: WorkspaceRow): string | null =>
    lock?.holder.type === type ? lock.holder.id : null;

const WAYS: readonly Way[] = [
  ['organization', (row) => row.organization, (ids, { actor }) => [relatedOrganizations(ids, actor)]],
  ['project', (row) => row.project, (ids, { actor }) => [relatedProjects(ids, actor)]],
  ['current_run', (row) => row.currentRun, (ids, { actor, runs }, more) => runs.related(ids, more, actor)],
  [
    'current_configuration_version',
    (row) => row.currentConfigurationVersion,
    (ids, { actor, runs }) => [runs.relatedConfigurations(ids, actor)],
  ],
  ['current_state_version', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.related(ids, actor)]],
  ['outputs', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.relatedOutputs(ids, actor)]],
  ['tag_bindings', (row) => row.id, (ids, { actor }) => [relatedTagBindings(ids, actor)]],
  ['effective_tag_bindings', (row) => row.id, (ids, { actor }) => [relatedEffectiveTagBindings(ids, actor)]],
  ['locked_by', holder('runs'), (ids, { actor, runs }) => runs.related(ids, new Set(), actor)],
  ['locked_by', holder('users'), (ids, { actor }) => [relatedUsers(ids, actor)]],
  ['locked_by', holder('teams'), (ids, { actor }) => [relatedTeams(ids, actor)]],
];
