import { sql, type Sql } from '#platform/kernel';
import { can, type Actor, type ActingPrincipal } from '#api/access';
import { selectRelatedTeams, selectRelatedUsers } from '#identity/people';
import type { Database } from '#platform/postgres';
import {
  parseInclude,
  readRelated,
  getSlowReadCaller,
  type QueryParameters,
  type RelatedResources,
  type Resource,
} from '#api/json-api';
import type { CurrentRuns } from '#workspaces/workspaces';
import { compareByName } from '../state-file/state-extract.js';
import { renderOutput } from './state-versions.document.js';
import type { StateVersionRow } from './state-versions.queries.js';
import { ValueBudget, type StateExtracts } from '../files/state.extracts.js';

export const STATE_VERSION_INCLUDES = [
  'outputs',
  'created_by',
  'run',
  'run.created_by',
  'run.configuration_version',
] as const;

export type StateVersionIncludes = ReadonlySet<(typeof STATE_VERSION_INCLUDES)[number]>;

export const parseStateVersionIncludes = (query: QueryParameters): StateVersionIncludes | null =>
  parseInclude(query, STATE_VERSION_INCLUDES);

type StateIncludeSources = { readonly actor: Actor; readonly extracts: StateExtracts; readonly runs: CurrentRuns };

/** Loads the included resources with at most one more statement. */
export const loadStateVersionIncluded = async (
  database: Database,
  rows: readonly StateVersionRow[],
  includes: StateVersionIncludes,
  { actor, extracts, runs }: StateIncludeSources,
): Promise<Resource[]> => [
  ...(await readRelated(
    database,
    [
      ...(includes.has('created_by') ? selectCreators(rows, actor, runs) : []),
      ...selectRuns(rows, includes, actor, runs),
    ],
    getSlowReadCaller(actor, rows),
  )),
  ...(includes.has('outputs') ? await loadOutputs(rows, extracts) : []),
];

const selectCreators = (
  rows: readonly StateVersionRow[],
  actor: Actor,
  runs: CurrentRuns,
): readonly RelatedResources[] => {
  const lent = (
    type: ActingPrincipal['type'],
    related: (ids: Sql) => readonly RelatedResources[],
  ): readonly RelatedResources[] => {
    const ids = new Set(rows.flatMap(({ createdBy }) => (createdBy.type === type ? [createdBy.id] : [])));
    return ids.size > 0 ? related(sql`${[...ids]}::text[]`) : [];
  };
  return [
    ...lent('users', (ids) => [selectRelatedUsers(ids, actor)]),
    ...lent('teams', (ids) => [selectRelatedTeams(ids, actor)]),
    ...lent('runs', (ids) => runs.related(ids, new Set(), actor)),
  ];
};

const selectRuns = (
  rows: readonly StateVersionRow[],
  includes: StateVersionIncludes,
  actor: Actor,
  runs: CurrentRuns,
): readonly RelatedResources[] => {
  const runIncludes = [...includes].filter((name) => name === 'run' || name.startsWith('run.'));
  const ids = rows.filter((row) => can(actor, 'read-runs', row)).flatMap(({ run }) => run ?? []);
  if (runIncludes.length === 0 || ids.length === 0) return [];
  return runs.related(sql`${ids}::text[]`, new Set(runIncludes.map((name) => name.slice('run.'.length))), actor);
};

/**
 * Includes values even of sensitive outputs, because a caller that can read a state version can download the complete
 * state.
 */
const loadOutputs = async (rows: readonly StateVersionRow[], extracts: StateExtracts): Promise<Resource[]> => {
  const included: Resource[] = [];
  const budget = new ValueBudget();
  for (const row of rows.filter(({ outputs }) => outputs.length > 0)) {
    const outputs = row.outputs.toSorted(compareByName);
    const names = outputs.map(({ name }) => name);
    const values = await (await extracts.outputs(row)).parsed(names, budget);
    included.push(...outputs.map((output) => renderOutput(output, values.get(output.name))));
  }
  return included;
};
