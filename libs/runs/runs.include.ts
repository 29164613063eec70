import { sql, type Sql } from '#kernel';
import { may, type Actor } from '#access';
import { relatedUsers } from '#people';
import type { Database } from '#event-store';
import { includesOf, readRelated, related, slowForLists, type Query, type Related, type Resource } from '#json-api';
import { Reads } from '#reads';
import { relatedWorkspaces } from '#workspaces';
import { configurationVersionResource } from './configuration-versions.document.js';
import { configurationVersionsByIds, type ConfigurationVersionRow } from './configuration-versions.queries.js';
import { configurationsShown, type ConfigurationRead } from './reads.events.js';
import { commentResource } from './run-events.document.js';
import { commentsOfRuns, type CommentRow } from './run-events.queries.js';
import { applyResource, planResource } from './runs.document.js';
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

export type Includes = ReadonlySet<string>;

export const runIncludes = (query: Query): Includes | null => includesOf(query, INCLUDES);

/** Who asks, and where it is said what they are shown. */
export type Reader = { readonly actor: Actor; readonly reads: Reads };

/** What the includes ask for, in one more statement at the most. */
export const includedWith = async (
  database: Database,
  rows: readonly RunRow[],
  includes: Includes,
  reader: Reader,
): Promise<Resource[]> => [
  ...phasesOf(rows, includes),
  ...(await readRelated(
    database,
    rows.length > 0 ? relatedTo(rows, includes, reader) : [],
    slowForLists(reader.actor, rows),
  )),
];

/** Plans and applies are in the rows of their runs. */
export const phasesOf = (rows: readonly RunRow[], includes: Includes): Resource[] => [
  ...(includes.has('plan') ? rows.map(planResource) : []),
  ...(includes.has('apply') ? rows.map(applyResource) : []),
];

const relatedTo = (rows: readonly RunRow[], includes: Includes, reader: Reader): Related[] => {
  const { actor } = reader;
  const people = [
    ...(includes.has('created_by') ? rows.map(({ createdBy }) => createdBy.id) : []),
    ...(includes.has('confirmed_by') ? rows.flatMap(({ confirmedBy }) => confirmedBy?.id ?? []) : []),
  ];
  // An executor is shown what waits for it, and reads nothing that people say of it.
  const readable = rows.filter((row) => may(actor, 'read-runs', row)).map(({ id }) => id);
  return [
    ...(people.length > 0 ? [relatedUsers(textsOf(people), actor)] : []),
    ...(includes.has('workspace') ? [relatedWorkspaces(textsOf(rows.map(({ workspace }) => workspace)), actor)] : []),
    ...(includes.has('comments') ? [relatedComments(textsOf(readable))] : []),
    ...(asksForConfigurations(includes)
      ? [relatedConfigurations(textsOf(rows.map(({ configurationVersion }) => configurationVersion)), reader)]
      : []),
  ];
};

const textsOf = (ids: readonly string[]): Sql => sql`${[...new Set(ids)]}::text[]`;

const relatedComments = (runs: Sql): Related =>
  related<CommentRow>(commentsOfRuns(runs), (rows) => rows.map(commentResource));

/** `ingress_attributes`, the commit that one came from, no configuration has yet: it brings the configuration alone. */
export const asksForConfigurations = (includes: Includes): boolean =>
  includes.has('configuration_version') || includes.has('configuration_version.ingress_attributes');

/** A run can be made of another workspace's, which the caller may not know: it is left out then. */
export const relatedConfigurations = (ids: Sql, { actor, reads }: Reader): Related =>
  related<ConfigurationVersionRow>(configurationVersionsByIds(ids, actor), async (rows) => {
    const seen = rows.filter((row) => may(actor, 'read-configuration-version', row));
    await reads.record<ConfigurationRead>(actor, seen[0]?.organization ?? null, ...configurationsShown(seen));
    return seen.map((row) => configurationVersionResource(row));
  });
