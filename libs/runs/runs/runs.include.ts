import { sql, type Sql } from '#kernel';
import { can, type Actor } from '#access';
import { selectRelatedUsers } from '#people';
import type { Database } from '#postgres';
import {
  parseInclude,
  readRelated,
  defineRelated,
  getSlowReadCaller,
  type QueryParameters,
  type RelatedResources,
  type Resource,
} from '#json-api';
import { ReadRecorder } from '#reads';
import { selectRelatedWorkspaces } from '#workspaces';
import { renderConfigurationVersion } from '../configuration-versions/configuration-versions.document.js';
import {
  selectConfigurationVersionsByIds,
  type ConfigurationVersionRow,
} from '../configuration-versions/configuration-versions.queries.js';
import { createConfigurationReadEvents, type ConfigurationRead } from '../reads.events.js';
import { renderComment } from '../run-events/run-events.document.js';
import { selectCommentsOfRuns, type CommentRow } from '../run-events/run-events.queries.js';
import { renderApply, renderPlan } from './runs.document.js';
import type { RunRow } from './runs.queries.js';

/** The vendor's; what Cadastre does not keep, estimates and checks, is known and brings nothing. */
const INCLUDES = [
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

export const parseRunIncludes = (query: QueryParameters): RunIncludes | null => parseInclude(query, INCLUDES);

/** Who asks, and where it is said what they are shown. */
export type IncludeReader = { readonly actor: Actor; readonly reads: ReadRecorder };

/** What the includes ask for, in one more statement at the most. */
export const loadRunIncluded = async (
  database: Database,
  rows: readonly RunRow[],
  includes: RunIncludes,
  reader: IncludeReader,
): Promise<Resource[]> => [
  ...renderPhases(rows, includes),
  ...(await readRelated(
    database,
    rows.length > 0 ? selectRelatedTo(rows, includes, reader) : [],
    getSlowReadCaller(reader.actor, rows),
  )),
];

/** Plans and applies are in the rows of their runs. */
export const renderPhases = (rows: readonly RunRow[], includes: RunIncludes): Resource[] => [
  ...(includes.has('plan') ? rows.map(renderPlan) : []),
  ...(includes.has('apply') ? rows.map(renderApply) : []),
];

const selectRelatedTo = (rows: readonly RunRow[], includes: RunIncludes, reader: IncludeReader): RelatedResources[] => {
  const { actor } = reader;
  const people = [
    ...(includes.has('created_by') ? rows.map(({ createdBy }) => createdBy.id) : []),
    ...(includes.has('confirmed_by') ? rows.flatMap(({ confirmedBy }) => confirmedBy?.id ?? []) : []),
  ];
  // An executor is shown what waits for it, and reads nothing that people say of it.
  const readable = rows.filter((row) => can(actor, 'read-runs', row)).map(({ id }) => id);
  return [
    ...(people.length > 0 ? [selectRelatedUsers(selectTexts(people), actor)] : []),
    ...(includes.has('workspace')
      ? [selectRelatedWorkspaces(selectTexts(rows.map(({ workspace }) => workspace)), actor)]
      : []),
    ...(includes.has('comments') ? [selectRelatedComments(selectTexts(readable))] : []),
    ...(includesConfigurations(includes)
      ? [selectRelatedConfigurations(selectTexts(rows.map(({ configurationVersion }) => configurationVersion)), reader)]
      : []),
  ];
};

const selectTexts = (ids: readonly string[]): Sql => sql`${[...new Set(ids)]}::text[]`;

const selectRelatedComments = (runs: Sql): RelatedResources =>
  defineRelated<CommentRow>(selectCommentsOfRuns(runs), (rows) => rows.map(renderComment));

/** `ingress_attributes`, the commit that one came from, no configuration has yet: it brings the configuration alone. */
export const includesConfigurations = (includes: RunIncludes): boolean =>
  includes.has('configuration_version') || includes.has('configuration_version.ingress_attributes');

/** A run can be made of another workspace's, which the caller may not know: it is left out then. */
export const selectRelatedConfigurations = (ids: Sql, { actor, reads }: IncludeReader): RelatedResources =>
  defineRelated<ConfigurationVersionRow>(selectConfigurationVersionsByIds(ids, actor), async (rows) => {
    const seen = rows.filter((row) => can(actor, 'read-configuration-version', row));
    await reads.record<ConfigurationRead>(actor, seen[0]?.organization ?? null, ...createConfigurationReadEvents(seen));
    return seen.map((row) => renderConfigurationVersion(row));
  });
