import { sql, type Sql } from '#kernel';
import { may, type Actor, type Person } from '#access';
import { relatedTeams, relatedUsers } from '#people/to-people';
import type { Database } from '#event-store';
import { includesOf, readRelated, type Query, type Related, type Resource } from '#json-api';
import type { CurrentRuns } from '#workspaces/to-workspace';
import { outputResource } from './state-versions.document.js';
import type { StateVersionRow } from './state-versions.queries.js';
import type { StateFiles } from './state.files.js';

const INCLUDES = ['outputs', 'created_by', 'run', 'run.created_by', 'run.configuration_version'] as const;

export type Includes = ReadonlySet<(typeof INCLUDES)[number]>;

export const stateVersionIncludes = (query: Query): Includes | null => includesOf(query, INCLUDES);

type Neighbours = { readonly actor: Actor; readonly files: StateFiles; readonly runs: CurrentRuns };

/** What the includes ask for, in one more statement at the most. */
export const includedWith = async (
  database: Database,
  rows: readonly StateVersionRow[],
  includes: Includes,
  { actor, files, runs }: Neighbours,
): Promise<Resource[]> => [
  ...(await readRelated(database, [
    ...(includes.has('created_by') ? creatorsOf(rows, actor, runs) : []),
    ...runsOf(rows, includes, actor, runs),
  ])),
  ...(includes.has('outputs') ? await outputsOf(rows, files) : []),
];

const creatorsOf = (rows: readonly StateVersionRow[], actor: Actor, runs: CurrentRuns): readonly Related[] => {
  const lent = (type: Person['type'], related: (ids: Sql) => readonly Related[]): readonly Related[] => {
    const ids = new Set(rows.flatMap(({ createdBy }) => (createdBy.type === type ? [createdBy.id] : [])));
    return ids.size > 0 ? related(sql`${[...ids]}::text[]`) : [];
  };
  return [
    ...lent('users', (ids) => [relatedUsers(ids, actor)]),
    ...lent('teams', (ids) => [relatedTeams(ids, actor)]),
    ...lent('runs', (ids) => runs.related(ids, new Set(), actor)),
  ];
};

const runsOf = (
  rows: readonly StateVersionRow[],
  includes: Includes,
  actor: Actor,
  runs: CurrentRuns,
): readonly Related[] => {
  const asked = [...includes].filter((name) => name === 'run' || name.startsWith('run.'));
  const ids = rows.filter((row) => may(actor, 'read-runs', row)).flatMap(({ run }) => run ?? []);
  if (asked.length === 0 || ids.length === 0) return [];
  return runs.related(sql`${ids}::text[]`, new Set(asked.map((name) => name.slice('run.'.length))), actor);
};

/** Values and all: who sees a state version may download the whole state. One file after the other, each as a whole. */
const outputsOf = async (rows: readonly StateVersionRow[], files: StateFiles): Promise<Resource[]> => {
  const included: Resource[] = [];
  for (const { id, outputs } of rows.filter((row) => row.outputs.length > 0)) {
    const values = await files.outputValues(id);
    included.push(...outputs.map((output) => outputResource(output, values.get(output.name))));
  }
  return included;
};
