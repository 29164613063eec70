import { sql, type Sql } from '#kernel';
import { may, type Actor, type Person } from '#access';
import { relatedTeams, relatedUsers } from '#people';
import type { Database } from '#event-store';
import { includesOf, readRelated, slowForLists, type Query, type Related, type Resource } from '#json-api';
import type { CurrentRuns } from '#workspaces';
import { byName } from './state-extract.js';
import { outputResource } from './state-versions.document.js';
import type { StateVersionRow } from './state-versions.queries.js';
import { ValueBudget, type StateExtracts } from './state.extracts.js';

const INCLUDES = ['outputs', 'created_by', 'run', 'run.created_by', 'run.configuration_version'] as const;

export type Includes = ReadonlySet<(typeof INCLUDES)[number]>;

export const stateVersionIncludes = (query: Query): Includes | null => includesOf(query, INCLUDES);

type Neighbours = { readonly actor: Actor; readonly extracts: StateExtracts; readonly runs: CurrentRuns };

/** What the includes ask for, in one more statement at the most. */
export const includedWith = async (
  database: Database,
  rows: readonly StateVersionRow[],
  includes: Includes,
  { actor, extracts, runs }: Neighbours,
): Promise<Resource[]> => [
  ...(await readRelated(
    database,
    [...(includes.has('created_by') ? creatorsOf(rows, actor, runs) : []), ...runsOf(rows, includes, actor, runs)],
    slowForLists(actor, rows),
  )),
  ...(includes.has('outputs') ? await outputsOf(rows, extracts) : []),
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

/**
 * Bytes of output values in one document that includes them. Outputs whose values do not fit are left out of `included`;
 * their own address has them.
 */
export const INCLUDED_VALUES = 1024 * 1024;

/** Values and all: who sees a state version may download the whole state. */
const outputsOf = async (rows: readonly StateVersionRow[], extracts: StateExtracts): Promise<Resource[]> => {
  const included: Resource[] = [];
  const budget = new ValueBudget(INCLUDED_VALUES);
  for (const row of rows.filter(({ outputs }) => outputs.length > 0)) {
    const outputs = row.outputs.toSorted(byName);
    const names = outputs.map(({ name }) => name);
    const values = await (await extracts.outputs(row)).parsed(names, budget);
    const fitting = outputs.filter(({ name }) => values.has(name));
    included.push(...fitting.map((output) => outputResource(output, values.get(output.name))));
  }
  return included;
};
