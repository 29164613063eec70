import { notFound, sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectProjectGrants,
  selectWorkspaceGrants,
  selectCurrentWorkspaceGrants,
  type Actor,
  type Grant,
} from '#api/access';
import { buildViewsAt, type PointInTime } from '#api/json-api';
import { selectVisiblePrincipal } from '#identity/people';
import { IS_INHERITED, type TagBindingColumns } from './tag-inheritance.queries.js';

/** A binding of a workspace or project: its own, or inherited. */
export type BindingRow = TagBindingColumns & {
  readonly owner: string;
  /** Id of the project that binds it; null if the owner binds it itself. */
  readonly inheritedFrom: string | null;
  /**
   * Id of the reserved tag key that forbids to override the project's binding. Such a binding is older than the rule.
   */
  readonly forbiddenBy: string | null;
};

/** Selects the own bindings of the workspace `w`. */
const selectOwnBindings = (actor: Actor): Sql => sql`
  select w.id as owner, t.key, t.value, t.set_at as "setAt",
         ${selectVisiblePrincipal(actor, sql.raw('t.set_by'), sql.raw('w.organization'))} as "setBy", null::text as "inheritedFrom",
         (select rk.id from project_tags pt
            join reserved_tag_keys rk on rk.organization = pt.organization and rk.key = pt.key and rk.disable_overrides
           where pt.project = w.project and pt.key = t.key) as "forbiddenBy",
         1 as rank, t.added_in, t.ordinal
    from workspace_tags t where t.workspace = w.id`;

/** Selects the bindings that the workspace `w` inherits from its project. */
const selectInheritedBindings = (actor: Actor): Sql => sql`
  select w.id as owner, pt.key, pt.value, pt.set_at as "setAt",
         ${selectVisiblePrincipal(actor, sql.raw('pt.set_by'), sql.raw('w.organization'))} as "setBy", pt.project as "inheritedFrom",
         null::text as "forbiddenBy", 2 as rank, pt.added_in, 0 as ordinal
    from project_tags pt where pt.project = w.project and ${IS_INHERITED}`;

/**
 * Selects the effective bindings of the workspace `w`. The vendor shows no flat tags here, and the Terraform provider
 * takes every binding that it reads here as its own: with flat tags among them its plans never become empty. A flat tag
 * that overrides a binding of the project is shown, because the workspace does not inherit that binding.
 */
const selectEffectiveBindings = (actor: Actor): Sql => sql`
  ${selectOwnBindings(actor)} and (t.value is not null
              or exists (select 1 from project_tags pt where pt.project = w.project and pt.key = t.key))
  union all ${selectInheritedBindings(actor)}`;

/** Selects the bindings of the project `p`. */
const selectBindingsOfProject = (actor: Actor): Sql => sql`
  select p.id as owner, pt.key, pt.value, pt.set_at as "setAt",
         ${selectVisiblePrincipal(actor, sql.raw('pt.set_by'), sql.raw('p.organization'))} as "setBy", null::text as "inheritedFrom",
         null::text as "forbiddenBy", 1 as rank, pt.added_in, 0 as ordinal
    from project_tags pt where pt.project = p.id`;

const COLUMNS = sql.raw('b.owner, b.key, b.value, b."setAt", b."setBy", b."inheritedFrom", b."forbiddenBy"');

/** Own bindings before inherited ones, each in order of insertion. */
const ORDER = sql.raw('b.owner, b.rank, b.added_in, b.ordinal');

const EXTENTS = { own: selectOwnBindings, effective: selectEffectiveBindings };

type BindingExtent = keyof typeof EXTENTS;

export const selectWorkspaceBindings = (ids: Sql, extent: BindingExtent, actor: Actor): Sql => sql`
  select ${COLUMNS} from workspaces w cross join lateral (${EXTENTS[extent](actor)}) b
   where w.id = any (${ids}) order by ${ORDER}`;

export const selectProjectBindings = (ids: Sql, actor: Actor): Sql => sql`
  select ${COLUMNS} from projects p cross join lateral (${selectBindingsOfProject(actor)}) b where p.id = any (${ids}) order by ${ORDER}`;

/** A binding of an owner, or the owner alone if it has no bindings. */
export type OwnedBinding = { readonly id: string } & (BindingRow | { readonly key: null });

/** Selects rows of the type OwnedBinding: the own bindings of workspaces. */
export const selectBindingsByWorkspace = (ids: Sql, actor: Actor): Sql => sql`
  select w.id, ${COLUMNS} from workspaces w left join lateral (${selectOwnBindings(actor)}) b on true
   where w.id = any (${ids}) order by w.id, ${ORDER}`;

/** Selects rows of the type OwnedBinding: the bindings of projects. */
export const selectBindingsByProject = (ids: Sql, actor: Actor): Sql => sql`
  select p.id, ${COLUMNS} from projects p left join lateral (${selectBindingsOfProject(actor)}) b on true
   where p.id = any (${ids}) order by p.id, ${ORDER}`;

/** A binding with the requested owner; only the owner if it has no bindings. */
type ScopedBinding = { readonly organization: string; readonly grants: readonly Grant[] } & (
  BindingRow | { readonly key: null }
);

const isBinding = (row: ScopedBinding): row is ScopedBinding & BindingRow => row.key !== null;

const readScopedBindings = (
  database: Database,
  actor: Actor,
  statement: Sql,
  past: PointInTime | null,
): Promise<readonly ScopedBinding[]> =>
  past === null
    ? database.rows<ScopedBinding>(statement)
    : database.slowRows<ScopedBinding>(actor, sql.unkept(statement));

/**
 * Returns the bindings of a workspace; with `past` as they were at that time. Throws `not-found` if the caller may not
 * read the workspace.
 */
export const listWorkspaceBindings = async (
  database: Database,
  actor: Actor,
  id: string,
  extent: BindingExtent,
  past: PointInTime | null = null,
): Promise<readonly BindingRow[]> => {
  const grants =
    past === null ? selectWorkspaceGrants(actor, 'w') : selectCurrentWorkspaceGrants(actor, sql.raw('w.id'));
  const statement = sql`
    ${buildViewsAt(past, { id })}
    select w.organization, ${grants} as grants, ${COLUMNS}
      from workspaces w left join lateral (${EXTENTS[extent](actor)}) b on true
     where w.id = ${id} and ${requireCurrentAccess(actor)} order by ${ORDER}`;
  const rows = await readScopedBindings(database, actor, statement, past);
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, past === null ? 'read-workspace' : 'read-workspace-history', first);
  return rows.filter(isBinding);
};

/** Returns the bindings of a project, which inherits nothing; with `past` as they were at that time. */
export const listProjectBindings = async (
  database: Database,
  actor: Actor,
  id: string,
  past: PointInTime | null = null,
): Promise<readonly BindingRow[]> => {
  const statement = sql`
    ${buildViewsAt(past, { id })}
    select p.organization, ${selectProjectGrants(actor, sql.raw('p.id'))} as grants, ${COLUMNS}
      from projects p left join lateral (${selectBindingsOfProject(actor)}) b on true
     where p.id = ${id} and ${requireCurrentAccess(actor)} order by ${ORDER}`;
  const rows = await readScopedBindings(database, actor, statement, past);
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-project', first);
  return rows.filter(isBinding);
};
