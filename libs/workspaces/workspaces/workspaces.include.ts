import { badRequest, sql, type Sql } from '#kernel';
import { type Actor, type ActingPrincipal } from '#access';
import { selectRelatedTeams, selectRelatedUsers } from '#people';
import { selectRelatedEffectiveTagBindings, selectRelatedTagBindings } from '#tag-bindings';
import type { Database } from '#postgres';
import {
  AS_OF,
  parseInclude,
  getParameter,
  readRelated,
  selectRelatedAt,
  getSlowReadCaller,
  type PointInTime,
  type QueryParameters,
  type RelatedResources,
  type Resource,
} from '#json-api';
import { selectRelatedOrganizations, selectRelatedProjects } from '#organizations';
import type { CurrentRuns } from '../ports/current-runs.port.js';
import type { CurrentStates } from '../ports/current-states.port.js';
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

export type WorkspaceInclude = (typeof INCLUDES)[number];

/** Resources that the history has: with as-of they are included as they were then. */
const IN_HISTORY: ReadonlySet<WorkspaceInclude> = new Set([
  'organization',
  'project',
  'effective_tag_bindings',
  'tag_bindings',
]);

/** What never changes once a workspace has it is included as it is, and there never is a readme. */
const UNCHANGING: ReadonlySet<WorkspaceInclude> = new Set(['current_state_version', 'outputs', 'readme']);

export const parseWorkspaceIncludes = (query: QueryParameters): ReadonlySet<WorkspaceInclude> | null => {
  const includes = parseInclude(query, INCLUDES);
  if (!includes || !getParameter(query, AS_OF)) return includes;
  const accepted = INCLUDES.filter((include) => IN_HISTORY.has(include) || UNCHANGING.has(include));
  const refused = [...includes].filter((include) => !accepted.includes(include));
  if (refused.length === 0) return includes;
  throw badRequest(
    `include: ${refused.join(', ')} cannot be combined with as-of, because the history has no past versions of users, ` +
      `teams, runs and configuration versions. Accepted are ${accepted.join(', ')}`,
    'include',
  );
};

type WorkspaceIncludeSources = { readonly actor: Actor; readonly runs: CurrentRuns; readonly states: CurrentStates };

/**
 * The resources that the includes ask for, in one more statement at the most, whoever keeps them. `past`: the point in time that
 * the rows were read at.
 */
export const loadWorkspaceIncluded = async (
  database: Database,
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<WorkspaceInclude>,
  neighbours: WorkspaceIncludeSources,
  past: PointInTime | null = null,
): Promise<Resource[]> => {
  const organizationId = rows[0]?.organization ?? '';
  const wanted = INCLUDE_PATHS.flatMap(([value, named, lent]) => {
    // Who asks for what belongs to a run is told of the run, too (JSON:API, full linkage).
    const asked = [...includes].filter((include) => include === value || include.startsWith(`${value}.`));
    const ids = asked.length > 0 ? [...new Set(rows.flatMap((row) => named(row) ?? []))] : [];
    const more = new Set(asked.map((include) => include.slice(value.length + 1)));
    const resources = ids.length > 0 ? lent(sql`${ids}::text[]`, neighbours, more) : [];
    if (past === null || !IN_HISTORY.has(value)) return resources;
    return resources.map((one) => selectRelatedAt(one, past, { organizationId }));
  });
  const slowFor = past === null ? getSlowReadCaller(neighbours.actor, rows) : neighbours.actor;
  const resources = await readRelated(database, wanted, slowFor);
  return includes.has('project') ? resources.map(removeCircularLinkage) : resources;
};

/**
 * Beside projects an organization names its default one by a link alone. go-tfe looks up every identifier in what came
 * along: from that project it is back at the organization, and goes round until its stack overflows
 * (hashicorp/go-tfe#1020).
 */
const removeCircularLinkage = (resource: Resource): Resource => {
  const { 'default-project': named } = resource.relationships ?? {};
  if (!named) return resource;
  const { data: _, ...link } = named;
  return { ...resource, relationships: { ...resource.relationships, 'default-project': link } };
};

/** A value of `include`, what it names in a row, and who knows what that stands for. */
type IncludePath = readonly [
  value: WorkspaceInclude,
  named: (row: WorkspaceRow) => string | null,
  lent: (ids: Sql, neighbours: WorkspaceIncludeSources, more: ReadonlySet<string>) => readonly RelatedResources[],
];

const getHolderId =
  (type: ActingPrincipal['type']) =>
  ({ lock }: WorkspaceRow): string | null =>
    lock?.holder.type === type ? lock.holder.id : null;

const INCLUDE_PATHS: readonly IncludePath[] = [
  ['organization', (row) => row.organization, (ids, { actor }) => [selectRelatedOrganizations(ids, actor)]],
  ['project', (row) => row.project, (ids, { actor }) => [selectRelatedProjects(ids, actor)]],
  ['current_run', (row) => row.currentRun, (ids, { actor, runs }, more) => runs.related(ids, more, actor)],
  [
    'current_configuration_version',
    (row) => row.currentConfigurationVersion,
    (ids, { actor, runs }) => [runs.relatedConfigurations(ids, actor)],
  ],
  ['current_state_version', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.related(ids, actor)]],
  ['outputs', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.relatedOutputs(ids, actor)]],
  ['tag_bindings', (row) => row.id, (ids, { actor }) => [selectRelatedTagBindings(ids, actor)]],
  ['effective_tag_bindings', (row) => row.id, (ids, { actor }) => [selectRelatedEffectiveTagBindings(ids, actor)]],
  ['locked_by', getHolderId('runs'), (ids, { actor, runs }) => runs.related(ids, new Set(), actor)],
  ['locked_by', getHolderId('users'), (ids, { actor }) => [selectRelatedUsers(ids, actor)]],
  ['locked_by', getHolderId('teams'), (ids, { actor }) => [selectRelatedTeams(ids, actor)]],
];
