import { sql, type Sql } from '#platform/kernel';
import { can, type Actor } from '#api/access';
import { selectRelatedUsers } from '#identity/people';
import type { Database } from '#platform/postgres';
import {
  parseInclude,
  readRelated,
  defineRelated,
  getSlowReadCaller,
  type QueryParameters,
  type RelatedResources,
  type Resource,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { selectRelatedWorkspaces } from '#workspaces/workspaces';
import {
  renderCommits,
  renderConfigurationVersion,
} from '../configuration-versions/configuration-versions.document.js';
import {
  selectConfigurationVersionsByIds,
  type ConfigurationVersionRow,
} from '../configuration-versions/configuration-versions.queries.js';
import { createConfigurationReadEvents, type ConfigurationRead } from '../reads.events.js';
import { renderComment } from '../run-events/run-events.document.js';
import { selectCommentsOfRuns, type CommentRow } from '../run-events/run-events.queries.js';
import { renderTaskStage } from '../task-stages/task-stages.document.js';
import { selectStagesOfRuns, type TaskStageRow } from '../task-stages/task-stages.queries.js';
import type { RunLogLinks } from './run-logs.links.js';
import { renderApply, renderPlan, type LogUrls } from './runs.document.js';
import type { RunRow } from './runs.queries.js';

/** The vendor's values. Cost estimates and policy checks are not stored, so including them adds nothing. */
export const RUN_INCLUDES = [
  'plan',
  'apply',
  'created_by',
  'confirmed_by',
  'comments',
  'configuration_version',
  'configuration_version.ingress_attributes',
  'cost_estimate',
  'policy_checks',
  'task_stages',
  'tf_policy_evaluations',
  'workspace',
] as const;

export type RunIncludes = ReadonlySet<string>;

export const parseRunIncludes = (query: QueryParameters): RunIncludes | null => parseInclude(query, RUN_INCLUDES);

/** The caller, and the recorder of what the caller reads. */
type IncludeReader = { readonly actor: Actor; readonly reads: ReadRecorder };

type RunIncludeReader = IncludeReader & { readonly logs: RunLogLinks };

/** Loads the included resources, in one more statement at most. */
export const loadRunIncluded = async (
  database: Database,
  rows: readonly RunRow[],
  includes: RunIncludes,
  reader: RunIncludeReader,
): Promise<Resource[]> => [
  ...renderPhases(rows, includes, reader.logs.urlsFor(reader.actor)),
  ...(await readRelated(
    database,
    rows.length > 0 ? selectRelatedTo(rows, includes, reader) : [],
    getSlowReadCaller(reader.actor, rows),
  )),
];

/** Plans and applies are in the rows of their runs. */
export const renderPhases = (rows: readonly RunRow[], includes: RunIncludes, logUrlOf: LogUrls): Resource[] => [
  ...(includes.has('plan') ? rows.map((row) => renderPlan(row, logUrlOf)) : []),
  ...(includes.has('apply') ? rows.map((row) => renderApply(row, logUrlOf)) : []),
];

const selectRelatedTo = (rows: readonly RunRow[], includes: RunIncludes, reader: IncludeReader): RelatedResources[] => {
  const { actor } = reader;
  const people = [
    ...(includes.has('created_by') ? rows.map(({ createdBy }) => createdBy.id) : []),
    ...(includes.has('confirmed_by') ? rows.flatMap(({ confirmedBy }) => confirmedBy?.id ?? []) : []),
  ];
  // Executors see the runs that wait for them, but may not read comments.
  const readable = rows.filter((row) => can(actor, 'read-runs', row)).map(({ id }) => id);
  return [
    ...(people.length > 0 ? [selectRelatedUsers(selectTexts(people), actor)] : []),
    ...(includes.has('workspace')
      ? [selectRelatedWorkspaces(selectTexts(rows.map(({ workspace }) => workspace)), actor)]
      : []),
    ...(includes.has('comments') ? [selectRelatedComments(selectTexts(readable))] : []),
    ...(includes.has('task_stages') ? [selectRelatedStages(selectTexts(readable), actor)] : []),
    ...(includesConfigurations(includes)
      ? [
          selectRelatedConfigurations(
            selectTexts(rows.map(({ configurationVersion }) => configurationVersion)),
            reader,
            includesCommits(includes),
          ),
        ]
      : []),
  ];
};

const selectTexts = (ids: readonly string[]): Sql => sql`${[...new Set(ids)]}::text[]`;

const selectRelatedComments = (runs: Sql): RelatedResources =>
  defineRelated<CommentRow>(selectCommentsOfRuns(runs), (rows) => rows.map(renderComment));

const selectRelatedStages = (runs: Sql, actor: Actor): RelatedResources =>
  defineRelated<TaskStageRow>(selectStagesOfRuns(runs), (rows) => rows.map((row) => renderTaskStage(row, actor)));

/** Including the commit of a configuration includes the configuration. */
export const includesConfigurations = (includes: RunIncludes): boolean =>
  includes.has('configuration_version') || includes.has('configuration_version.ingress_attributes');

/** Whether the commits of configurations are included too. */
export const includesCommits = (includes: RunIncludes): boolean =>
  includes.has('configuration_version.ingress_attributes');

/** A run can use a configuration of a workspace that the caller may not read; that configuration is left out. */
export const selectRelatedConfigurations = (
  ids: Sql,
  { actor, reads }: IncludeReader,
  withCommits: boolean,
): RelatedResources =>
  defineRelated<ConfigurationVersionRow>(selectConfigurationVersionsByIds(ids, actor), async (rows) => {
    const readable = rows.filter((row) => can(actor, 'read-configuration-version', row));
    await reads.record<ConfigurationRead>(
      actor,
      readable[0]?.organization ?? null,
      ...createConfigurationReadEvents(readable),
    );
    const commits = withCommits ? renderCommits(readable) : [];
    return [...readable.map((row) => renderConfigurationVersion(row)), ...commits];
  });
