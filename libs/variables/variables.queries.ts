import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import {
  demand,
  fresh,
  grantsOnProject,
  grantsOnWorkspace,
  permittedPlaces,
  type Actor,
  type Grant,
  type Permission,
  type Place,
} from '#access';
import { limitOf, listedIn, type Listed, type Page } from '#json-api';
import { effective, type Source } from './precedence.js';
import type { Category, Owner, StoredVariables } from './variable.js';

/** Whose variables are meant: a workspace's, by its id, its names or the id of one of its variables, or a set's. */
export type OwnerTarget =
  | { readonly workspace: string }
  | { readonly organization: string; readonly name: string }
  | { readonly workspaceOf: string }
  | { readonly variableSet: string };

export type VariableRow = {
  readonly id: string;
  readonly owner: string;
  readonly ownerType: Owner['type'];
  readonly ownerLink: string;
  readonly key: string;
  readonly category: Category;
  /** Null where it is sensitive. */
  readonly value: string | null;
  readonly description: string | null;
  readonly hcl: boolean;
  readonly sensitive: boolean;
  readonly versionId: string;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw(`v.id, v.owner, case when w.id is null then 'varsets' else 'workspaces' end as "ownerType",
  case when w.id is null then '/api/v2/varsets/' || v.owner
       else '/api/v2/organizations/' || o.name || '/workspaces/' || w.name end as "ownerLink",
  v.key, v.category, v.value, v.description, v.hcl, v.sensitive, md5(v.id || ' ' || v.version) as "versionId",
  v.created_at as "createdAt"`);

const FROM = sql.raw(
  'from variables v left join workspaces w on w.id = v.owner left join organizations o on o.id = w.organization',
);

export const variableById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where v.id = ${id}`;

/** `streams` are those whose end would take the variables along. */
const OWNER = {
  workspaces: (actor: Actor, condition: Sql): Sql => sql`
    select w.id, 'workspaces' as type, w.organization, w.project,
           ${grantsOnWorkspace(actor, 'w')} as grants,
           array[w.id, w.organization] as streams
      from workspaces w join organizations o on o.id = w.organization
     where ${condition} and ${fresh(actor)}`,
  varsets: (actor: Actor, id: string): Sql => sql`
    select s.id, 'varsets' as type, s.organization, s.project,
           ${grantsOnProject(actor, sql.raw('s.project'))} as grants,
           array[s.id, s.organization, s.project] as streams
      from variable_sets s
     where s.id = ${id} and ${fresh(actor)}`,
};

export const ownerOf = (actor: Actor, target: OwnerTarget): Sql => {
  if ('variableSet' in target) return OWNER.varsets(actor, target.variableSet);
  if ('workspace' in target) return OWNER.workspaces(actor, sql`w.id = ${target.workspace}`);
  if ('workspaceOf' in target) {
    return OWNER.workspaces(actor, sql`w.id = (select owner from variables where id = ${target.workspaceOf})`);
  }
  return OWNER.workspaces(actor, sql`o.name = ${target.organization} and w.name = ${target.name}`);
};

type OwnerRow = Place & {
  readonly organization: string;
  readonly type: Owner['type'];
  readonly grants: readonly Grant[];
};

type HomeRow = OwnerRow & { readonly home: string };

/** Whose they are, also where there are none. */
export type Owned = { readonly owner: Owner; readonly organization: string };

const ownedBy = ({ type, home, organization }: HomeRow): Owned => ({ owner: { type, id: home }, organization });

const PERMISSION = {
  workspaces: { read: 'read-variables', write: 'update-variables' },
  varsets: { read: 'read-variable-sets', write: 'manage-variable-sets' },
} as const satisfies Record<Owner['type'], Record<'read' | 'write', Permission>>;

/** The permissions depend on what the variables are of, which is known only once it is read. */
const permitted = <R extends OwnerRow>(actor: Actor, to: 'read' | 'write', row: R | undefined): R => {
  if (!row) throw notFound();
  demand(actor, PERMISSION[row.type].read, row);
  demand(actor, PERMISSION[row.type][to], row);
  return row;
};

/** The owner of variables as a table expression, empty if the caller may not read them. */
const readable = (actor: Actor, target: OwnerTarget): Sql =>
  permittedPlaces(actor, PERMISSION['variableSet' in target ? 'varsets' : 'workspaces'].read, ownerOf(actor, target));

const variablesOf = (owner: Sql): Sql =>
  sql`select ${COLUMNS} ${FROM} where v.owner = ${owner} order by v.key, v.category`;

/** One page, or all without one, and the count of all, in one statement. */
export const listVariables = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  page: Page | null,
): Promise<Listed<VariableRow> & Owned> => {
  const found = await database.slowRows<VariableRow & HomeRow & { total: number }>(
    actor,
    sql`
    select owner.id as home, owner.type, owner.organization, owner.grants, page.*,
           (select count(*) from variables v where v.owner = owner.id) as total
      from ${readable(actor, target)} owner
      left join lateral (${variablesOf(sql.raw('owner.id'))} ${page ? limitOf(page) : sql.empty}) page on true
     order by page.key, page.category`,
  );
  return { ...listedIn(found), ...ownedBy(permitted(actor, 'read', found[0])) };
};

/** Sets that count in a workspace and how they come to it; a set of a project counts only inside of it. */
export const setsReaching = (workspace: Sql): Sql => sql`
  select s.id, 'global' as scope from variable_sets s where s.global and s.organization = ${workspace}.organization
   union all
  select s.id, t.kind from variable_set_targets t join variable_sets s on s.id = t.variable_set
   where t.target in (${workspace}.id, ${workspace}.project) and (s.project is null or s.project = ${workspace}.project)`;

type Candidate = VariableRow & HomeRow & { readonly source: Source | null };

/** Of the workspace's own variables and those of all sets that reach it, the ones that count. */
export const effectiveVariables = async (
  database: Database,
  actor: Actor,
  workspace: string,
): Promise<Owned & { readonly variables: readonly VariableRow[] }> => {
  const reaching = sql`
    select s.*, r.scope from (${setsReaching(sql.raw('owner'))}) r join variable_sets s on s.id = r.id`;
  const found = await database.slowRows<Candidate>(
    actor,
    sql`
    select owner.id as home, owner.type, owner.organization, owner.grants, candidate.*
      from ${readable(actor, { workspace })} owner
      left join lateral (
        select ${COLUMNS}, null::jsonb as source ${FROM} where v.owner = owner.id
         union all
        select ${COLUMNS},
               jsonb_build_object('scope', s.scope, 'priority', s.priority, 'name', s.name,
                                  'ownedBy', case when s.project is null then 'organization' else 'project' end)
          ${FROM} join (${reaching}) s on s.id = v.owner) candidate on true
     order by candidate.key, candidate.category`,
  );
  const owned = ownedBy(permitted(actor, 'read', found[0]));
  return { ...owned, variables: effective(found.filter((row) => row.id !== null)) };
};

type VariableAndOwner = VariableRow & OwnerRow;

/** The variable, where it is one of those and the caller may read them. */
export const variableFor = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  id: string,
): Promise<VariableAndOwner> =>
  permitted(
    actor,
    'read',
    await database.row<VariableAndOwner>(sql`
      select owner.type, owner.organization, owner.grants, one.*
        from (${ownerOf(actor, target)}) owner
        join lateral (select ${COLUMNS} ${FROM} where v.owner = owner.id and v.id = ${id}) one on true`),
  );

/** What a decision about a variable, or about a new one, needs to know. */
export type PlaceForVariable = OwnerRow & {
  readonly owner: string;
  readonly held: readonly Held[];
  /** The owner's variables besides the one that the command is for. */
  readonly others: StoredVariables;
};

/** `StoredVariables` of an owner, without this one. */
export const storedBeside = (owner: string, id: string): Sql => sql`
  (select jsonb_build_object('count', count(*), 'bytes', coalesce(sum(octet_length(other.value)), 0))
     from variables other where other.owner = ${sql.raw(owner)} and other.id <> ${id})`;

export const placeForNewVariable = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
): Promise<PlaceForVariable> =>
  permitted(
    actor,
    'write',
    await database.row<PlaceForVariable>(sql`
      select owner.id as owner, owner.type, owner.organization, owner.grants,
             ${heldStreams(sql.raw('owner.streams'))} as held, ${storedBeside('owner.id', '')} as others
        from (${ownerOf(actor, target)}) owner`),
  );

export const variableForCommand = async (
  database: Database,
  actor: Actor,
  target: OwnerTarget,
  id: string,
): Promise<PlaceForVariable & { readonly snapshot: Snapshot }> =>
  permitted(
    actor,
    'write',
    await database.row<PlaceForVariable & { readonly snapshot: Snapshot }>(sql`
      select owner.id as owner, owner.type, owner.organization, owner.grants,
             ${heldStreams(sql.raw('owner.streams'))} as held, ${storedBeside('owner.id', id)} as others,
             ${snapshotOf('st')} as snapshot
        from (${ownerOf(actor, target)}) owner join variables v on v.owner = owner.id and v.id = ${id}
        join event_store.streams st on st.stream = v.id`),
  );

/** All variables of these sets. */
export const variablesOfSets = (sets: readonly string[]): Sql =>
  sql`select ${COLUMNS} ${FROM} where v.owner = any (${sets}::text[]) order by v.owner, v.key, v.category`;
