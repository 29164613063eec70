import { notFound, sql, unprocessable, type Sql } from '#kernel';
import type { Database } from '#postgres';
import {
  requirePermission,
  selectGrantedWorkspaces,
  isGrantedProject,
  isPermittedByRole,
  type Actor,
  selectPermittedOrganization,
} from '#access';
import { buildLimit, toListPage, type ListPage, type PageRequest } from '#json-api';
import { selectVisiblePrincipal } from '#people';
import type { TagBindingColumns } from '#tag-bindings';
import { checkReservedKey, type ReservedTagKeyAttributes } from '../reserved-tag-keys/reserved-tag-key.js';
import { selectWorkspacesTaggedWith } from '../reserved-tag-keys/reserved-tag-keys.queries.js';

/** A tag of a workspace's own, with a key that its project binds as well. */
export type TagOverrideRow = TagBindingColumns & {
  /** The workspace. */
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly projectName: string;
  readonly projectValue: string;
};

/** What a key is about, as far as the caller sees it: workspaces that override it, projects that bind it, and what is in those. */
export type KeyReach = { readonly overrides: number; readonly projects: number; readonly workspaces: number };

export type ReservationRule = ReservedTagKeyAttributes & { readonly reach: KeyReach };

/** What would be reserved: anew, or, where there is an id or the key is reserved already, in place of what is. */
export type ReservationProposal = {
  readonly id: string | null;
  readonly key: string;
  readonly disableOverrides?: boolean;
};

export type ReservationPreview = {
  /** The reserved tag key that would be changed; null where one would be created. */
  readonly reservedTagKey: string | null;
  readonly before: ReservationRule | null;
  readonly after: ReservationRule;
  /** Workspaces that override the key now. */
  readonly overrides: ListPage<TagOverrideRow>;
};

/** Workspaces of `owner` that have a tag of their own with that key, while their project binds it. */
const selectOverrides = (actor: Actor, key: Sql): Sql => sql`
  from project_tags pt
  join workspaces w on w.project = pt.project
  join ${selectWorkspacesTaggedWith(sql.raw('owner.id'), key)} t on t.workspace = w.id
 where pt.organization = owner.id and pt.key = ${key} and (owner.whole or w.id in (${selectGrantedWorkspaces(actor)}))`;

/** What is in projects is not counted one by one where all of it is seen: there may be a hundred thousand. */
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
  readonly reservedTagKey: string | null;
  readonly keyBefore: string;
  readonly disableOverridesBefore: boolean;
  /** Null where it is that of the same key. */
  readonly reachBefore: KeyReach | null;
  readonly reachAfter: KeyReach;
  /** Whether another reserved tag key has that key. */
  readonly isTaken: boolean;
};

/** What is asked of a proposal, and one page of what overrides its key now, in one statement. */
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
    asked as materialized (
      select owner.id as owner, rk.id as "reservedTagKey", rk.key as "keyBefore",
             rk.disable_overrides as "disableOverridesBefore",
             case when rk.key <> ${key} then ${selectReach(actor, before, selectOverrides(actor, before))} end as "reachBefore",
             ${selectReach(actor, sql`${key}`, sql.raw('from overrides'))} as "reachAfter",
             exists (select 1 from reserved_tag_keys other
                      where other.organization = owner.id and other.key = ${key} and other.id <> rk.id) as "isTaken"
        from owner left join reserved_tag_keys rk
          on rk.organization = owner.id and ${id === null ? sql`rk.key = ${key}` : sql`rk.id = ${id}`})
    select asked.*, page.*
      from asked left join lateral (
        select w.id, w.name, w.project, p.name as "projectName", t.key, t.value, t.set_at as "setAt",
               ${selectVisiblePrincipal(actor, sql.raw('t.set_by'), sql.raw('asked.owner'))} as "setBy", pt.value as "projectValue"
          from (select * from overrides order by name ${buildLimit(page)}) w
          join projects p on p.id = w.project
          join project_tags pt on pt.project = w.project and pt.key = ${key}
          join workspace_tags t on t.workspace = w.id and t.key = ${key}) page on true
     order by page.name`;
};

/**
 * What a change of reserved tag keys would meet, as far as the caller sees workspaces. Refused as the change itself would
 * be; nothing is changed.
 */
export const loadReservationPreview = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  proposal: ReservationProposal,
  page: PageRequest,
): Promise<ReservationPreview> => {
  const found = await database.slowRows<TagOverrideRow & PreviewRow>(
    actor,
    // Keys are bound by nobody, or by all.
    sql.unkept(selectPreview(actor, organizationName, proposal, page)),
  );
  const [first] = found;
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
    overrides: toListPage(found.map((row) => ({ ...row, total: row.reachAfter.overrides }))),
  };
};

const getRuleBefore = (row: PreviewRow): ReservationRule => ({
  key: row.keyBefore,
  disableOverrides: row.disableOverridesBefore,
  reach: row.reachBefore ?? row.reachAfter,
});
