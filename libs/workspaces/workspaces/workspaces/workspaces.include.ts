import { badRequest, sql, type Sql } from '#platform/kernel';
import { type Actor, type ActingPrincipal } from '#api/access';
import { selectRelatedAgentPools } from '#organizations/agents';
import { selectRelatedTeams, selectRelatedUsers } from '#identity/people';
import { selectRelatedEffectiveTagBindings, selectRelatedTagBindings } from '#organizations/tag-bindings';
import type { Database } from '#platform/postgres';
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
} from '#api/json-api';
import { selectRelatedOrganizations, selectRelatedProjects } from '#organizations/organizations';
import type { CurrentRuns } from '../ports/current-runs.port.js';
import type { CurrentStates } from '../ports/current-states.port.js';
import type { WorkspaceVariables } from '../ports/workspace-variables.port.js';
import type { WorkspaceRow } from './workspaces.queries.js';

/**
 * The values of the vendor's description, and those that clients add. No-code modules and processed
 * resources do not exist here, so including them adds nothing.
 */
export const WORKSPACE_INCLUDES = [
  'agent_pool',
  'current_assessment_result',
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run',
  'current_run.apply',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'current_state_version.resources_processed',
  'effective_tag_bindings',
  'latest_run',
  'latest_run.configuration_version',
  'latest_run.configuration_version.ingress_attributes',
  'latest_run.plan',
  'locked_by',
  'no_code_module_version',
  'no_code_module_version.no_code_module',
  'no_code_module_version.no_code_module.latest_version',
  'organization',
  'outputs',
  'project',
  'readme',
  'tag_bindings',
  'vars',
] as const;

export type WorkspaceInclude = (typeof WORKSPACE_INCLUDES)[number];

/** Resources that have a history: with `as-of` they are included as they were at that time. */
const IN_HISTORY: ReadonlySet<WorkspaceInclude> = new Set([
  'organization',
  'project',
  'effective_tag_bindings',
  'tag_bindings',
]);

/** Resources that never change once the workspace has them, and resources that no workspace has. A request for the past can include both. */
const UNCHANGING: ReadonlySet<WorkspaceInclude> = new Set([
  'current_assessment_result',
  'current_state_version',
  'current_state_version.resources_processed',
  'no_code_module_version',
  'no_code_module_version.no_code_module',
  'no_code_module_version.no_code_module.latest_version',
  'outputs',
  'readme',
]);

export const parseWorkspaceIncludes = (query: QueryParameters): ReadonlySet<WorkspaceInclude> | null => {
  const includes = parseInclude(query, WORKSPACE_INCLUDES);
  if (!includes || !getParameter(query, AS_OF)) return includes;
  const accepted = WORKSPACE_INCLUDES.filter((include) => IN_HISTORY.has(include) || UNCHANGING.has(include));
  const refused = [...includes].filter((include) => !accepted.includes(include));
  if (refused.length === 0) return includes;
  throw badRequest(
    `include: ${refused.join(', ')} cannot be combined with as-of, because the history has no past versions of users, ` +
      `teams, runs, configuration versions, variables and agent pools. Accepted are ${accepted.join(', ')}`,
    'include',
  );
};

type WorkspaceIncludeSources = {
  readonly actor: Actor;
  readonly now: Date;
  readonly runs: CurrentRuns;
  readonly states: CurrentStates;
  readonly variables: WorkspaceVariables;
};

/** Loads the included resources, in one more statement at most. `past`: the point in time of the rows. */
export const loadWorkspaceIncluded = async (
  database: Database,
  rows: readonly WorkspaceRow[],
  includes: ReadonlySet<WorkspaceInclude>,
  neighbours: WorkspaceIncludeSources,
  past: PointInTime | null = null,
): Promise<Resource[]> => {
  const organizationId = rows[0]?.organization ?? '';
  const queries = INCLUDE_PATHS.flatMap(([value, getIds, load]) => {
    // A client that includes a resource of a run needs the run too (JSON:API, full linkage).
    const requested = [...includes].filter((include) => include === value || include.startsWith(`${value}.`));
    const ids = requested.length > 0 ? [...new Set(rows.flatMap((row) => getIds(row) ?? []))] : [];
    const more = new Set(requested.map((include) => include.slice(value.length + 1)));
    const resources = ids.length > 0 ? load(sql`${ids}::text[]`, neighbours, more) : [];
    if (past === null || !IN_HISTORY.has(value)) return resources;
    return resources.map((one) => selectRelatedAt(one, past, { organizationId }));
  });
  const slowFor = past === null ? getSlowReadCaller(neighbours.actor, rows) : neighbours.actor;
  const resources = await readRelated(database, queries, slowFor);
  return includes.has('project') ? resources.map(removeCircularLinkage) : resources;
};

/**
 * If an organization is included with projects, its default project is only a link. go-tfe resolves every identifier in
 * a document: from that project it would get back to the organization, until its stack overflows
 * (hashicorp/go-tfe#1020).
 */
const removeCircularLinkage = (resource: Resource): Resource => {
  const { 'default-project': defaultProject } = resource.relationships ?? {};
  if (!defaultProject) return resource;
  const { data: _, ...link } = defaultProject;
  return { ...resource, relationships: { ...resource.relationships, 'default-project': link } };
};

/** A value of `include`, the ids that it references in a row, and the query of their resources. */
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
  ['agent_pool', (row) => row.agentPool, (ids, { actor, now }) => [selectRelatedAgentPools(ids, { actor, now })]],
  ['current_run', (row) => row.currentRun, (ids, { actor, runs }, more) => runs.related(ids, more, actor)],
  ['latest_run', (row) => row.currentRun, (ids, { actor, runs }, more) => runs.related(ids, more, actor)],
  [
    'current_assessment_result',
    (row) => row.currentAssessmentResult,
    (ids, { actor, runs }) => [runs.relatedAssessments(ids, actor)],
  ],
  [
    'current_configuration_version',
    (row) => row.currentConfigurationVersion,
    (ids, { actor, runs }) => [runs.relatedConfigurations(ids, actor)],
  ],
  ['current_state_version', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.related(ids, actor)]],
  ['outputs', (row) => row.currentStateVersion, (ids, { actor, states }) => [states.relatedOutputs(ids, actor)]],
  ['tag_bindings', (row) => row.id, (ids, { actor }) => [selectRelatedTagBindings(ids, actor)]],
  ['effective_tag_bindings', (row) => row.id, (ids, { actor }) => [selectRelatedEffectiveTagBindings(ids, actor)]],
  ['vars', (row) => row.id, (ids, { actor, variables }) => [variables.related(ids, actor)]],
  ['locked_by', getHolderId('runs'), (ids, { actor, runs }) => runs.related(ids, new Set(), actor)],
  ['locked_by', getHolderId('users'), (ids, { actor }) => [selectRelatedUsers(ids, actor)]],
  ['locked_by', getHolderId('teams'), (ids, { actor }) => [selectRelatedTeams(ids, actor)]],
];
