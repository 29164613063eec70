import { sql } from '#kernel';
import { may, type Actor } from '#access';
import type { Database } from '#event-store';
import { includesOf, type Query, type Resource } from '#json-api';
import { configurationVersionResource } from './configuration-versions.document.js';
import { configurationVersionsAsJson, type ConfigurationVersionRow } from './configuration-versions.queries.js';
import { commentResource } from './run-events.document.js';
import type { CommentRow } from './run-events.queries.js';
import { applyResource, personResource, planResource } from './runs.document.js';
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

/** What the includes ask for, in one more statement at the most. */
export const includedWith = async (
  database: Database,
  rows: readonly RunRow[],
  includes: Includes,
  actor: Actor,
): Promise<Resource[]> => [
  ...(includes.has('plan') ? rows.map(planResource) : []),
  ...(includes.has('apply') ? rows.map(applyResource) : []),
  ...(includes.has('created_by') ? rows.map(({ createdBy }) => personResource(createdBy)) : []),
  ...(includes.has('confirmed_by')
    ? rows.flatMap((row) => (row.confirmedBy ? personResource(row.confirmedBy) : []))
    : []),
  ...(STORED.some((name) => includes.has(name)) ? await related(database, rows, includes, actor) : []),
];

/** What rows of runs do not tell themselves. */
const STORED = [
  'workspace',
  'comments',
  'configuration_version',
  'configuration_version.ingress_attributes',
] as const satisfies readonly (typeof INCLUDES)[number][];

type WorkspaceFact = { readonly id: string; readonly name: string; readonly organizationName: string };
type Related = {
  readonly workspaces: readonly WorkspaceFact[];
  readonly comments: readonly CommentRow[];
  readonly configurations: readonly ConfigurationVersionRow[];
};

const related = async (
  database: Database,
  rows: readonly RunRow[],
  includes: Includes,
  actor: Actor,
): Promise<Resource[]> => {
  const has = (...names: (typeof STORED)[number][]): boolean => names.some((name) => includes.has(name));
  const workspaces = has('workspace') ? rows.map(({ workspace }) => workspace) : [];
  // An executor is shown what waits for it, and reads nothing that people say of it.
  const runs = has('comments') ? rows.filter((row) => may(actor, 'read-runs', row)).map(({ id }) => id) : [];
  const configurations = has('configuration_version', 'configuration_version.ingress_attributes')
    ? rows.map(({ configurationVersion }) => configurationVersion)
    : [];
  const found = await database.row<Related>(sql`
    select coalesce((select jsonb_agg(jsonb_build_object('id', w.id, 'name', w.name, 'organizationName', o.name))
                       from workspaces w join organizations o on o.id = w.organization
                      where w.id = any (${workspaces}::text[])), '[]') as workspaces,
           coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'runEvent', c.run_event, 'body', c.body)
                                      order by c.run, c.version)
                       from run_comments c where c.run = any (${runs}::text[])), '[]') as comments,
           ${configurationVersionsAsJson(configurations, actor)} as configurations`);
  if (!found) return [];
  return [
    ...found.workspaces.map(workspaceFact),
    ...found.comments.map(commentResource),
    // Of another workspace perhaps, which the caller need not know.
    ...found.configurations
      .filter((row) => may(actor, 'read-configuration-version', row))
      .map((row) => configurationVersionResource(row)),
  ];
};

/** By its name; the whole document is at its own address. */
const workspaceFact = ({ id, name, organizationName }: WorkspaceFact): Resource => ({
  id,
  type: 'workspaces',
  attributes: { name },
  links: { self: `/api/v2/organizations/${organizationName}/workspaces/${name}` },
});
