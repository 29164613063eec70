import { notFound, sql, type Sql } from '#kernel';
import type { Database } from '#event-store';
import {
  demand,
  fresh,
  grantsOnProject,
  grantsOnWorkspace,
  grantsOnWorkspaceNow,
  type Actor,
  type Grant,
} from '#access';
import { viewsAt, type PointInTime } from '#json-api';
import { shownSomebody } from '#people';
import { IS_INHERITED, type BoundTag } from './inheritance.queries.js';

/** A binding as its owner, a workspace or a project, has it: of its own, or inherited. */
export type BindingRow = BoundTag & {
  readonly owner: string;
  /** The project that binds it; null where the owner does. */
  readonly inheritedFrom: string | null;
  /** The reserved tag key that forbids to override what the project binds: this one stood before. */
  readonly forbiddenBy: string | null;
};

/** What the workspace `w` binds itself. */
const own = (actor: Actor): Sql => sql`
  select w.id as owner, t.key, t.value, t.set_at as "setAt",
         ${shownSomebody(actor, sql.raw('t.set_by'), sql.raw('w.organization'))} as "setBy", null::text as "inheritedFrom",
         (select rk.id from project_tags pt
            join reserved_tag_keys rk on rk.organization = pt.organization and rk.key = pt.key and rk.disable_overrides
           where pt.project = w.project and pt.key = t.key) as "forbiddenBy",
         1 as rank, t.added_in, t.ordinal
    from workspace_tags t where t.workspace = w.id`;

/** What it has of its project. */
const inherited = (actor: Actor): Sql => sql`
  select w.id as owner, pt.key, pt.value, pt.set_at as "setAt",
         ${shownSomebody(actor, sql.raw('pt.set_by'), sql.raw('w.organization'))} as "setBy", pt.project as "inheritedFrom",
         null::text as "forbiddenBy", 2 as rank, pt.added_in, 0 as ordinal
    from project_tags pt where pt.project = w.project and ${IS_INHERITED}`;

/**
 * What counts for it. The vendor shows no flat tags here, and the Terraform provider takes what it reads here for bindings
 * that it manages: with flat tags among them its plans never become empty. A flat tag that overrides what the project binds
 * is shown, because the workspace does not inherit that binding.
 */
const effective = (actor: Actor): Sql => sql`
  ${own(actor)} and (t.value is not null
              or exists (select 1 from project_tags pt where pt.project = w.project and pt.key = t.key))
  union all ${inherited(actor)}`;

/** What the project `p` binds. */
const ofProject = (actor: Actor): Sql => sql`
  select p.id as owner, pt.key, pt.value, pt.set_at as "setAt",
         ${shownSomebody(actor, sql.raw('pt.set_by'), sql.raw('p.organization'))} as "setBy", null::text as "inheritedFrom",
         null::text as "forbiddenBy", 1 as rank, pt.added_in, 0 as ordinal
    from project_tags pt where pt.project = p.id`;

/** What is inherited comes last; each in order of insertion. */
const ORDER = sql.raw('b.owner, b.rank, b.added_in, b.ordinal');

const EXTENTS = { own, effective };

export type Extent = keyof typeof EXTENTS;

export const bindingsOfWorkspaces = (ids: Sql, extent: Extent, actor: Actor): Sql => sql`
  select b.* from workspaces w cross join lateral (${EXTENTS[extent](actor)}) b
   where w.id = any (${ids}) order by ${ORDER}`;

export const bindingsOfProjects = (ids: Sql, actor: Actor): Sql => sql`
  select b.* from projects p cross join lateral (${ofProject(actor)}) b where p.id = any (${ids}) order by ${ORDER}`;

type Placed = BindingRow & { readonly organization: string; readonly grants: readonly Grant[] };

const readPlaced = (
  database: Database,
  actor: Actor,
  statement: Sql,
  past: PointInTime | null,
): Promise<readonly Placed[]> =>
  past === null ? database.rows<Placed>(statement) : database.slowRows<Placed>(actor, sql.unkept(statement));

/** The bindings of a workspace that the caller may read; with `past` as they were at that time. */
export const bindingsOfWorkspace = async (
  database: Database,
  actor: Actor,
  id: string,
  extent: Extent,
  past: PointInTime | null = null,
): Promise<readonly BindingRow[]> => {
  const grants = past === null ? grantsOnWorkspace(actor, 'w') : grantsOnWorkspaceNow(actor, sql.raw('w.id'));
  const statement = sql`
    ${viewsAt(past, { id })}
    select w.organization, ${grants} as grants, b.*
      from workspaces w left join lateral (${EXTENTS[extent](actor)}) b on true
     where w.id = ${id} and ${fresh(actor)} order by ${ORDER}`;
  const rows = await readPlaced(database, actor, statement, past);
  const [first] = rows;
  if (!first) throw notFound();
  demand(actor, past === null ? 'read-workspace' : 'read-workspace-history', first);
  return rows.filter(({ key }) => key !== null);
};

/** The same of a project, which inherits nothing. */
export const bindingsOfProject = async (
  database: Database,
  actor: Actor,
  id: string,
  past: PointInTime | null = null,
): Promise<readonly BindingRow[]> => {
  const statement = sql`
    ${viewsAt(past, { id })}
    select p.organization, ${grantsOnProject(actor, sql.raw('p.id'))} as grants, b.*
      from projects p left join lateral (${ofProject(actor)}) b on true
     where p.id = ${id} and ${fresh(actor)} order by ${ORDER}`;
  const rows = await readPlaced(database, actor, statement, past);
  const [first] = rows;
  if (!first) throw notFound();
  demand(actor, 'read-project', first);
  return rows.filter(({ key }) => key !== null);
};
