import { foldInSql, foldName, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectWorkspacesWithTagGaps, type TagFilterTerm } from '#organizations/tag-bindings';

/** The filters of a list of workspaces. */
export type WorkspaceListFilter = {
  readonly name: string | undefined;
  readonly wildcard: string | undefined;
  /** Keys of the workspace's own tags, flat ones and bindings, that it must have. */
  readonly tags: readonly string[];
  readonly excludeTags: readonly string[];
  /** Effective tags that a workspace must have: its own, and inherited ones. */
  readonly tagged: readonly TagFilterTerm[];
  readonly project: string | undefined;
  readonly sshKey: string | undefined;
  readonly ids: readonly string[];
  /** Only workspaces that have no value for a reserved tag key. */
  readonly tagGaps: boolean;
  /** True: only locked workspaces; false: only unlocked ones. */
  readonly locked: boolean | undefined;
  readonly currentRunStatuses: readonly string[];
  /** Only workspaces whose `latest-change-at` is this time or later. */
  readonly changedSince: Timestamp | null;
};

/** In SQL: `w`, a workspace, and `owner`, its organization. */
export type WorkspaceCondition = {
  readonly where: Sql;
  /** Ids of the matching workspaces, each once, if this condition alone decides. */
  readonly ids?: Sql;
  /** Ids of the workspaces that do not match, each once, if this condition alone decides. */
  readonly otherIds?: Sql;
  /** The projects whose workspaces match, except those with their own tags of these keys. */
  readonly projects?: ProjectMembership;
  /**
   * Whether Postgres cannot estimate the number of matches: its statistics have a few hundred names, and nothing about
   * their fragments.
   */
  readonly unforeseen?: true;
};

type ProjectMembership = { readonly are: (column: Sql) => Sql; readonly unless: readonly string[] };

const isAmong = (ids: Sql): WorkspaceCondition => ({ where: sql`w.id in (${ids})`, ids });

export const escapeLikePattern = (text: string): string => text.replaceAll(/[\\%_]/g, (special) => `\\${special}`);

/** The index of name fragments has them in lower case (sql/004_lists.sql). */
const isLike = (pattern: string): Sql => sql`lower(w.name) like ${pattern.toLowerCase()}`;

const hasInName = (text: string): WorkspaceCondition => ({
  where: isLike(`%${escapeLikePattern(text)}%`),
  unforeseen: true,
});

const matchesWildcard = (wildcard: string): WorkspaceCondition => {
  const pattern = escapeLikePattern(wildcard).replaceAll('*', '%');
  // The index of folded names finds the beginning of a name, and the index of fragments all other parts.
  const matches = sql`${isLike(pattern)} and ${foldInSql(sql.raw('w.name'))} like ${foldName(pattern)}`;
  return { where: matches, unforeseen: true };
};

const isValue = (column: string, value: string | null): Sql =>
  value === null ? sql.raw('true') : sql`${sql.raw(column)} = ${value}`;

/** A term that names a key. */
type KeyTerm = Extract<TagFilterTerm, { readonly key: string }>;

const hasOwnTag = ({ key, value }: KeyTerm): WorkspaceCondition =>
  isAmong(sql`
    select t.workspace from workspace_tags t
     where t.organization = owner.id and t.key = ${key} and ${isValue('t.value', value)}`);

const PROJECT = sql.raw('w.project');

const isInProject = (project: string): WorkspaceCondition => {
  const are = (column: Sql): Sql => sql`${column} = ${project}`;
  return { where: are(PROJECT), projects: { are, unless: [] } };
};

const usesSshKey = (key: string): WorkspaceCondition => ({ where: sql`w.ssh_key = ${key}`, unforeseen: true });

/**
 * If no project binds all of the tags, nothing else is read. Postgres cannot estimate the number of matching
 * workspaces, because one project may have them all. `is true` keeps the planner from starting here, so it scans the
 * list in its order until the page is full.
 */
const inheritsAllTags = (tagged: readonly KeyTerm[]): WorkspaceCondition => {
  const [first, ...otherTerms] = tagged.map(
    ({ key, value }) => sql`pt.organization = owner.id and pt.key = ${key} and ${isValue('pt.value', value)}`,
  );
  const all = otherTerms.map(
    (otherTerm) => sql`pt.project in (select pt.project from project_tags pt where ${otherTerm})`,
  );
  const projects = sql`select pt.project from project_tags pt where ${sql.and([...(first ? [first] : []), ...all])}`;
  const are = (column: Sql): Sql => sql`exists (${projects}) and (${column} in (${projects})) is true`;
  const keys = tagged.map(({ key }) => key);
  const where = sql`${are(PROJECT)} and not exists (
    select 1 from workspace_tags own
     where own.organization = owner.id and own.key = any (${keys}::text[]) and own.workspace = w.id)`;
  return { where, projects: { are, unless: keys } };
};

/**
 * The planner starts from the rarest of these. For many conditions, planning would take longer than testing each
 * workspace.
 */
const MAX_JOINED_CONDITIONS = 3;

const hasAllOwnTags = (keys: readonly string[]): readonly WorkspaceCondition[] => {
  const remainingKeys = keys.slice(MAX_JOINED_CONDITIONS);
  const where = sql`not exists (
    select 1 from unnest(${remainingKeys}::text[]) as wanted (key)
     where not exists (select 1 from workspace_tags t where t.workspace = w.id and t.key = wanted.key))`;
  const first = keys.slice(0, MAX_JOINED_CONDITIONS).map((key) => hasOwnTag({ key, value: null }));
  return [...first, ...(remainingKeys.length > 0 ? [{ where }] : [])];
};

/** Postgres estimates from its statistics, and an index has the workspaces of an organization in this order. */
const hasChangedSince = (time: Timestamp): WorkspaceCondition => ({ where: sql`w.latest_change_at >= ${time}` });

const hasId = (ids: readonly string[]): WorkspaceCondition => ({ where: sql`w.id = any (${ids}::text[])` });

const hasNoTag = (keys: readonly string[]): WorkspaceCondition => ({
  where: sql`not exists (
    select 1 from workspace_tags t where t.organization = owner.id and t.key = any (${keys}::text[]) and t.workspace = w.id)`,
});

const LOCKED_WORKSPACES = sql.raw('select l.workspace from workspace_locks l where l.organization = owner.id');

/** Few or nearly all workspaces can be locked, and the planner takes every organization for the largest one. */
const isLocked = (locked: boolean): WorkspaceCondition => ({
  ...(locked
    ? isAmong(LOCKED_WORKSPACES)
    : { where: sql`not exists (${LOCKED_WORKSPACES} and l.workspace = w.id)`, otherIds: LOCKED_WORKSPACES }),
  unforeseen: true,
});

/** For so many tags, own and inherited ones are separate alternatives: each tag doubles their number. */
const MAX_PARTITIONED_TAGS = 2;

/** Tests each remaining workspace for the tag: its own, or its project's if it has no tag with that key. */
const hasTag = ({ key, value }: KeyTerm): WorkspaceCondition => {
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
 * Finds own and inherited tags by their value alone. An own tag hides the inherited tag with its key, so own and inherited
 * tags cannot be separate alternatives.
 */
const hasTagValue = (value: string): WorkspaceCondition =>
  isAmong(sql`
    select t.workspace from workspace_tags t where t.organization = owner.id and t.value = ${value}
     union
    select heir.id from project_tags pt join workspaces heir on heir.project = pt.project
     where pt.organization = owner.id and pt.value = ${value} and heir.organization = owner.id
       and not exists (select 1 from workspace_tags own where own.workspace = heir.id and own.key = pt.key)`);

/**
 * Returns the alternatives in which workspaces have all of these tags: each tag is their own or inherited. A workspace
 * matches one alternative only, so together they are the result, and each starts from its own indexes.
 */
const buildTagAlternatives = (tagged: readonly KeyTerm[]): readonly (readonly WorkspaceCondition[])[] => {
  const always = tagged.slice(MAX_PARTITIONED_TAGS).map(hasTag);
  return listPartitions(tagged.slice(0, MAX_PARTITIONED_TAGS)).map(([own, inherited]) => [
    ...own.map(hasOwnTag),
    ...(inherited.length > 0 ? [inheritsAllTags(inherited)] : []),
    ...always,
  ]);
};

/** Returns all partitions of a list into two lists. */
const listPartitions = <T>(items: readonly T[]): readonly (readonly [readonly T[], readonly T[]])[] =>
  items.reduce<readonly (readonly [readonly T[], readonly T[]])[]>(
    (partitions, item) =>
      partitions.flatMap(([one, other]) => [[[...one, item], other] as const, [one, [...other, item]] as const]),
    [[[], []]],
  );

const hasCurrentRunIn = (statuses: readonly string[]): WorkspaceCondition =>
  isAmong(sql`
    select c.workspace from workspace_runs c where c.organization = owner.id and c.status = any (${statuses}::text[])`);

/**
 * Returns the conditions of a list besides the organization, as alternatives of which one must hold; an alternative
 * without conditions matches everything.
 */
export const buildConditionAlternatives = (filter: WorkspaceListFilter): readonly (readonly WorkspaceCondition[])[] => {
  const always = [
    ...(filter.name ? [hasInName(filter.name)] : []),
    ...(filter.wildcard ? [matchesWildcard(filter.wildcard)] : []),
    ...(filter.project ? [isInProject(filter.project)] : []),
    ...(filter.sshKey ? [usesSshKey(filter.sshKey)] : []),
    ...(filter.changedSince ? [hasChangedSince(filter.changedSince)] : []),
    ...(filter.ids.length > 0 ? [hasId(filter.ids)] : []),
    ...(filter.tagGaps ? [isAmong(selectWorkspacesWithTagGaps())] : []),
    ...(filter.locked === undefined ? [] : [isLocked(filter.locked)]),
    ...hasAllOwnTags(filter.tags),
    ...(filter.excludeTags.length > 0 ? [hasNoTag(filter.excludeTags)] : []),
    ...(filter.currentRunStatuses.length > 0 ? [hasCurrentRunIn(filter.currentRunStatuses)] : []),
    ...filter.tagged.flatMap(({ key, value }) => (key === null ? [hasTagValue(value)] : [])),
  ];
  return buildTagAlternatives(filter.tagged.filter((term): term is KeyTerm => term.key !== null)).map((alternative) => [
    ...always,
    ...alternative,
  ]);
};

export const joinConditions = (conditions: readonly WorkspaceCondition[]): Sql =>
  sql.and(conditions.map(({ where }) => where));

/** Sums the stored counts of the projects, minus the workspaces that override the inherited tags. */
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

/** Counting a hundred thousand rows would cost more than the page, so the counts of whole organizations are stored. */
export const buildOrganizationCount = (conditions: readonly WorkspaceCondition[]): Sql | null => {
  const projects = conditions.flatMap((condition) => condition.projects ?? []);
  if (projects.length === conditions.length) return buildProjectCount(projects);
  const [only, ...others] = conditions;
  if (others.length > 0) return null;
  const countIds = (ids: Sql): Sql => sql`(select count(*) from (${ids}) matching)`;
  if (only?.otherIds) return sql`${buildProjectCount([])} - ${countIds(only.otherIds)}`;
  return only?.ids ? countIds(only.ids) : null;
};
