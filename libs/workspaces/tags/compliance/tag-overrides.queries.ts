import { notFound, sql, unprocessable, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  selectGrantedWorkspaces,
  isGrantedProject,
  isPermittedByRole,
  type Actor,
  selectPermittedOrganization,
} from '#api/access';
import { buildLimit, toListPage, type ListPage, type PageRequest, type ListRow } from '#api/json-api';
import { selectVisiblePrincipal } from '#identity/people';
import { selectWorkspacesTaggedWith, type TagBindingColumns } from '#organizations/tag-bindings';
import { checkReservedKey, type ReservedTagKeyAttributes } from '../reserved-tag-keys/reserved-tag-key.js';

/** A workspace's own tag whose key its project binds too. */
export type TagOverrideRow = TagBindingColumns & {
  /** Id of the workspace. */
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly projectName: string;
  readonly projectValue: string;
};

/**
 * Counts of what a key concerns, as far as the caller sees it: workspaces that override it, projects that bind it, and
 * all workspaces in these projects.
 */
type KeyReach = { readonly overrides: number; readonly projects: number; readonly workspaces: number };

export type ReservationRule = ReservedTagKeyAttributes & { readonly reach: KeyReach };

/**
 * A proposed reserved tag key. It changes the reserved tag key with this id, or without an id the one with this key, if
 * there is one.
 */
type ReservationProposal = {
  readonly id: string | null;
  readonly key: string;
  readonly disableOverrides?: boolean;
};

export type ReservationPreview = {
  /** Id of the reserved tag key that would change; null if it would be created. */
  readonly reservedTagKey: string | null;
  readonly before: ReservationRule | null;
  readonly after: ReservationRule;
  /** Workspaces that override the key at present. */
  readonly overrides: ListPage<TagOverrideRow>;
};

/** Selects the workspaces of `owner` that have their own tag with the key while their project binds it. */
const selectOverrides = (actor: Actor, key: Sql): Sql => sql`
  from project_tags pt
  join workspaces w on w.project = pt.project
  join ${selectWorkspacesTaggedWith(sql.raw('owner.id'), key)} t on t.workspace = w.id
 where pt.organization = owner.id and pt.key = ${key} and (owner.whole or w.id in (${selectGrantedWorkspaces(actor)}))`;

/**
 * Selects a KeyReach. If the caller sees all workspaces, it uses the counts of each project, because a project can
 * contain a hundred thousand workspaces.
 */
const selectReach = (actor: Actor, key: Sql, overrides: Sql): Sql => {
  const binding = sql`pt.organization = owner.id and pt.key = ${key}`;
  return sql`jsonb_build_object(
    'overrides', (select count(*) ${overrides}),
    'projects', (select count(*) from project_tags pt
                  where ${binding} and (owner.whole or ${isGrantedProject(actor, sql.raw('pt.project'))})),
    'workspaces', case when owner.whole then (
        select coalesce(sum(c.workspaces), 0) from project_tags pt
          join workspace_counts c on c.organization = pt.organization and c.project = pt.project where ${binding})
      else (
        select count(*) from project_tags pt join workspaces w on w.project = pt.project
         where ${binding} and w.id in (${selectGrantedWorkspaces(actor)})) end)`;
};

type PreviewRow = {
  readonly owner: string;
  /** Null if the key does not change: then `reachAfter` applies. */
  readonly reachBefore: KeyReach | null;
  readonly reachAfter: KeyReach;
  /** Whether another reserved tag key has this key. */
  readonly isTaken: boolean;
} & (ReservedKeyColumns | { readonly [Column in keyof ReservedKeyColumns]: null });

type ReservedKeyColumns = {
  readonly reservedTagKey: string;
  readonly keyBefore: string;
  readonly disableOverridesBefore: boolean;
};

/** Selects the rule before and after a proposal, and one page of the overrides of its key, in one statement. */
const selectPreview = (
  actor: Actor,
  organizationName: string,
  { id, key }: ReservationProposal,
  page: PageRequest,
): Sql => {
  const before = sql.raw('rk.key');
  return sql`
    with owner as materialized (
      select id, ${isPermittedByRole(actor, 'read-workspace')} as whole
        from ${selectPermittedOrganization(actor, 'read-reserved-tag-keys', organizationName)}),
    overrides as materialized (
      select w.* from owner cross join lateral (select w.id, w.name, w.project ${selectOverrides(actor, sql`${key}`)}) w),
    proposal as materialized (
      select owner.id as owner, rk.id as "reservedTagKey", rk.key as "keyBefore",
             rk.disable_overrides as "disableOverridesBefore",
             case when rk.key <> ${key} then ${selectReach(actor, before, selectOverrides(actor, before))} end as "reachBefore",
             ${selectReach(actor, sql`${key}`, sql.raw('from overrides'))} as "reachAfter",
             exists (select 1 from reserved_tag_keys other
                      where other.organization = owner.id and other.key = ${key} and other.id <> rk.id) as "isTaken"
        from owner left join reserved_tag_keys rk
          on rk.organization = owner.id and ${id === null ? sql`rk.key = ${key}` : sql`rk.id = ${id}`})
    select proposal.*, page.*
      from proposal left join lateral (
        select w.id, w.name, w.project, p.name as "projectName", t.key, t.value, t.set_at as "setAt",
               ${selectVisiblePrincipal(actor, sql.raw('t.set_by'), sql.raw('proposal.owner'))} as "setBy", pt.value as "projectValue"
          from (select * from overrides order by name ${buildLimit(page)}) w
          join projects p on p.id = w.project
          join project_tags pt on pt.project = w.project and pt.key = ${key}
          join workspace_tags t on t.workspace = w.id and t.key = ${key}) page on true
     order by page.name`;
};

/**
 * Returns the effects of a change of reserved tag keys, on workspaces that the caller sees. Refuses what the change
 * itself would refuse. Changes nothing.
 */
export const loadReservationPreview = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  proposal: ReservationProposal,
  page: PageRequest,
): Promise<ReservationPreview> => {
  const rows = await database.slowRows<ListRow<TagOverrideRow, PreviewRow>>(
    actor,
    // Not prepared, because the best plan depends on the key: nearly all workspaces bind it, or none.
    sql.unkept(selectPreview(actor, organizationName, proposal, page)),
  );
  const [first] = rows;
  if (!first) throw notFound();
  requirePermission(actor, 'read-reserved-tag-keys', { organization: first.owner });
  checkReservedKey(proposal.key);
  if (proposal.id !== null && first.reservedTagKey === null) {
    throw unprocessable('Reserved tag key does not exist', '/data/id');
  }
  if (first.isTaken) throw unprocessable('Key has already been taken', 'key');
  const before = first.reservedTagKey === null ? null : getRuleBefore(first);
  const { key, disableOverrides = before?.disableOverrides ?? false } = proposal;
  return {
    reservedTagKey: first.reservedTagKey,
    before,
    after: { key, disableOverrides, reach: first.reachAfter },
    overrides: toListPage(rows.map((row) => ({ ...row, total: row.reachAfter.overrides }))),
  };
};

const getRuleBefore = (row: PreviewRow & ReservedKeyColumns): ReservationRule => ({
  key: row.keyBefore,
  disableOverrides: row.disableOverridesBefore,
  reach: row.reachBefore ?? row.reachAfter,
});
