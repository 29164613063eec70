import { sql, type Sql } from '#kernel';
import type { TagFilterTerm } from '#tag-bindings';

/** What is left out of a list of workspaces. */
export type WorkspaceListFilter = {
  readonly name: string | undefined;
  readonly wildcard: string | undefined;
  /** Keys of tags of its own, flat ones and bindings, that must all be there. */
  readonly tags: readonly string[];
  readonly excludeTags: readonly string[];
  /** What must all count for it: its own tags, and what it inherits. */
  readonly tagged: readonly TagFilterTerm[];
  readonly project: string | undefined;
  readonly currentRunStatuses: readonly string[];
};

/** In SQL: `w`, a workspace, and `owner`, its organization. */
export type WorkspaceCondition = {
  readonly where: Sql;
  /** Where it alone says which workspaces: their ids, each once. */
  readonly ids?: Sql;
  /** Where it says that they are all workspaces of certain projects, without those that have tags with these keys themselves. */
  readonly projects?: ProjectMembership;
  /** How many fit no estimate can tell: it knows a few hundred names, and nothing of what is in the middle of them. */
  readonly unforeseen?: true;
};

type ProjectMembership = { readonly are: (column: Sql) => Sql; readonly unless: readonly string[] };

const isAmong = (ids: Sql): WorkspaceCondition => ({ where: sql`w.id in (${ids})`, ids });

const escapeLikePattern = (text: string): string => text.replaceAll(/[\\%_]/g, (special) => `\\${special}`);

/** The index of parts of names knows them in small letters (sql/004_lists.sql). */
const isLike = (pattern: string): Sql => sql`lower(w.name) like ${pattern.toLowerCase()}`;

const hasInName = (text: string): WorkspaceCondition => ({
  where: isLike(`%${escapeLikePattern(text)}%`),
  unforeseen: true,
});

const matchesWildcard = (wildcard: string): WorkspaceCondition => {
  const pattern = escapeLikePattern(wildcard).replaceAll('*', '%');
  return { where: sql`${isLike(pattern)} and w.name like ${pattern}`, unforeseen: true };
};

const isValue = (column: string, value: string | null): Sql =>
  value === null ? sql.raw('true') : sql`${sql.raw(column)} = ${value}`;

const hasOwnTag = ({ key, value }: TagFilterTerm): WorkspaceCondition =>
  isAmong(sql`
    select t.workspace from workspace_tags t
     where t.organization = owner.id and t.key = ${key} and ${isValue('t.value', value)}`);

const PROJECT = sql.raw('w.project');

const isInProject = (project: string): WorkspaceCondition => {
  const are = (column: Sql): Sql => sql`${column} = ${project}`;
  return { where: are(PROJECT), projects: { are, unless: [] } };
};

/**
 * Where no project binds them all nothing else is looked at. In how many workspaces that results no estimate can tell,
 * where one project may have them all: `is true` keeps the planner from starting there, so that a list goes along its order
 * until the page is full.
 */
const inheritsAllTags = (tagged: readonly TagFilterTerm[]): WorkspaceCondition => {
  const [first, ...others] = tagged.map(
    ({ key, value }) => sql`pt.organization = owner.id and pt.key = ${key} and ${isValue('pt.value', value)}`,
  );
  const all = others.map((other) => sql`pt.project in (select pt.project from project_tags pt where ${other})`);
  const projects = sql`select pt.project from project_tags pt where ${sql.and([...(first ? [first] : []), ...all])}`;
  const are = (column: Sql): Sql => sql`exists (${projects}) and (${column} in (${projects})) is true`;
  const keys = tagged.map(({ key }) => key);
  const where = sql`${are(PROJECT)} and not exists (
    select 1 from workspace_tags own
     where own.organization = owner.id and own.key = any (${keys}::text[]) and own.workspace = w.id)`;
  return { where, projects: { are, unless: keys } };
};

/** The planner starts from the rarest of these. Of many it would think longer than it takes to look at each workspace. */
const MAX_JOINED_CONDITIONS = 3;

const hasAllOwnTags = (keys: readonly string[]): readonly WorkspaceCondition[] => {
  const others = keys.slice(MAX_JOINED_CONDITIONS);
  const where = sql`not exists (
    select 1 from unnest(${others}::text[]) as wanted (key)
     where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key))`;
  const first = keys.slice(0, MAX_JOINED_CONDITIONS).map((key) => hasOwnTag({ key, value: null }));
  return [...first, ...(others.length > 0 ? [{ where }] : [])];
};

const hasNoTag = (keys: readonly string[]): WorkspaceCondition => ({
  where: sql`not exists (
    select 1 from workspace_tags t where t.organization = owner.id and t.key = any (${keys}::text[]) and t.workspace = w.id)`,
});

/** Of so many tags it is told apart where they come from: each doubles the ways. */
const MAX_PARTITIONED_TAGS = 2;

/** In either way: its own, or its project's where it has none with that key. For each workspace that is left. */
const hasTag = ({ key, value }: TagFilterTerm): WorkspaceCondition => {
  const own = (condition: Sql): Sql => sql`exists (
    select 1 from workspace_tags t where t.workspace = w.id and t.key = ${key} and ${condition})`;
  const projects = sql`
    select pt.project from project_tags pt
     where pt.organization = owner.id and pt.key = ${key} and ${isValue('pt.value', value)}`;
  return {
    where: sql`(${own(isValue('t.value', value))} or w.project in (${projects}) and not ${own(sql.raw('true'))})`,
  };
};

/**
 * The ways in which workspaces have all of these tags: of each it is their own, or they inherit it. None has two, so that
 * what is found in each is all of it, and each way has indexes of its own to start from.
 */
const buildTagAlternatives = (tagged: readonly TagFilterTerm[]): readonly (readonly WorkspaceCondition[])[] => {
  const always = tagged.slice(MAX_PARTITIONED_TAGS).map(hasTag);
  return listPartitions(tagged.slice(0, MAX_PARTITIONED_TAGS)).map(([own, inherited]) => [
    ...own.map(hasOwnTag),
    ...(inherited.length > 0 ? [inheritsAllTags(inherited)] : []),
    ...always,
  ]);
};

/** All ways to put things into two heaps. */
const listPartitions = <T>(things: readonly T[]): readonly (readonly [readonly T[], readonly T[]])[] =>
  things.reduce<readonly (readonly [readonly T[], readonly T[]])[]>(
    (ways, thing) =>
      ways.flatMap(([one, other]) => [[[...one, thing], other] as const, [one, [...other, thing]] as const]),
    [[[], []]],
  );

const hasCurrentRunIn = (statuses: readonly string[]): WorkspaceCondition =>
  isAmong(sql`
    select c.workspace from workspace_runs c where c.organization = owner.id and c.status = any (${statuses}::text[])`);

/** The conditions of a list, besides the organization: one of the ways must hold; none has any where all of it is asked for. */
export const buildConditionAlternatives = (filter: WorkspaceListFilter): readonly (readonly WorkspaceCondition[])[] => {
  const always = [
    ...(filter.name ? [hasInName(filter.name)] : []),
    ...(filter.wildcard ? [matchesWildcard(filter.wildcard)] : []),
    ...(filter.project ? [isInProject(filter.project)] : []),
    ...hasAllOwnTags(filter.tags),
    ...(filter.excludeTags.length > 0 ? [hasNoTag(filter.excludeTags)] : []),
    ...(filter.currentRunStatuses.length > 0 ? [hasCurrentRunIn(filter.currentRunStatuses)] : []),
  ];
  return buildTagAlternatives(filter.tagged).map((way) => [...always, ...way]);
};

export const joinConditions = (conditions: readonly WorkspaceCondition[]): Sql =>
  sql.and(conditions.map(({ where }) => where));

/** There is a count of each project. What they have, without those that say themselves what they would inherit. */
const buildProjectCount = (projects: readonly ProjectMembership[]): Sql => {
  const are = (column: Sql): Sql => sql.and(projects.map((each) => each.are(column)));
  const all = sql`(
    select coalesce(sum(c.workspaces), 0)::bigint from workspace_counts c
     where c.organization = owner.id and ${are(sql.raw('c.project'))})`;
  const keys = projects.flatMap(({ unless }) => unless);
  if (keys.length === 0) return all;
  return sql`${all} - (
    select count(distinct t.workspace) from workspace_tags t join workspaces w on w.id = t.workspace
     where t.organization = owner.id and t.key = any (${keys}::text[]) and ${are(PROJECT)})`;
};

/** To count a hundred thousand rows would cost more than the page: these are counted elsewhere, of a whole organization. */
export const buildOrganizationCount = (conditions: readonly WorkspaceCondition[]): Sql | null => {
  const projects = conditions.flatMap((condition) => condition.projects ?? []);
  if (projects.length === conditions.length) return buildProjectCount(projects);
  const [only, ...others] = conditions;
  return only?.ids && others.length === 0 ? sql`(select count(*) from (${only.ids}) matching)` : null;
};
