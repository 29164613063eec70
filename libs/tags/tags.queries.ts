import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import {
  demand,
  fresh,
  grantsOnWorkspace,
  isGrantedWorkspace,
  organizationFor,
  permittedPlaces,
  type Actor,
  type Grant,
} from '#access';
import { limitOf, type Listed, type Page } from '#json-api';
import { IS_VALUELESS, ownerWhere, seenTags } from '#tag-bindings';

export type TagRow = {
  readonly organization: string;
  readonly organizationName: string;
  readonly name: string;
  /** Of the first workspace that got it, among those that the caller may read. */
  readonly createdAt: Timestamp;
  /** How many of them carry it. */
  readonly instanceCount: number;
};

/** Tags with this in their names, in letters of either size. */
export const isLike = (search: string | undefined): Sql =>
  search ? sql`position(lower(${search}) in lower(t.key)) > 0` : sql.raw('true');

/** Of what seenTags finds. */
export const USE = sql.raw(`min(seen.created_at) as "createdAt", count(*) as "instanceCount"`);

export type FoundTag = TagRow & { readonly total: number };

export const tagsListedIn = (found: readonly FoundTag[]): Listed<TagRow> => ({
  rows: found.filter(({ name }: { readonly name: string | null }) => name !== null),
  total: found[0]?.total ?? 0,
});

/** One page of the flat tags of a workspace, in order of insertion, and the count of all, in one statement. */
export const tagsOfWorkspace = async (
  database: Database,
  actor: Actor,
  workspace: string,
  page: Page,
  search: string | undefined,
): Promise<Listed<TagRow>> => {
  const places = sql`
    select w.id, w.organization, ${grantsOnWorkspace(actor, 'w')} as grants
      from workspaces w where w.id = ${workspace} and ${fresh(actor)}`;
  const own = sql`t.workspace = w.id and ${IS_VALUELESS} and ${isLike(search)}`;
  const found = await database.slowRows<FoundTag & { readonly grants: readonly Grant[] }>(
    actor,
    sql`
    select owner.id as organization, owner.name as "organizationName", w.grants,
           (select count(*) from workspace_tags t where ${own}) as total, page.name, used.*
      from ${permittedPlaces(actor, 'read-workspace', places)} w
      join ${ownerWhere(actor, sql.raw('true'))} on owner.id = w.organization
      left join lateral (select t.key as name, t.added_in, t.ordinal from workspace_tags t where ${own}
                          order by t.added_in, t.ordinal ${limitOf(page)}) page on true
      left join lateral (select ${USE} from (${seenTags(actor, sql.raw('t.created_at'), sql.raw('t.key = page.name'))}) seen) used
             on page.name is not null
     order by page.added_in, page.ordinal`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-workspace', first);
  return tagsListedIn(found);
};

export type TagFilter = {
  readonly search: string | undefined;
  /** A workspace whose own tags are left out; one that the caller does not see leaves nothing out. */
  readonly without: string | undefined;
};

/** One page of the flat tags of an organization, by their names, and the count of all, in one statement. */
export const listTags = async (
  database: Database,
  actor: Actor,
  organizationName: string,
  page: Page,
  { search, without }: TagFilter,
): Promise<Listed<TagRow>> => {
  const isOther = without
    ? sql`not exists (
        select 1 from workspace_tags own join workspaces w on w.id = own.workspace
         where w.id = ${without} and w.organization = owner.id and own.key = t.key
           and (owner.whole or ${isGrantedWorkspace(actor, 'w')}))`
    : sql.raw('true');
  const seen = seenTags(actor, sql.raw('t.key as name, t.created_at'), sql`${isLike(search)} and ${isOther}`);
  const found = await database.slowRows<FoundTag>(
    actor,
    sql`
    select owner.id as organization, owner.name as "organizationName", owner.total, page.*
      from (select owner.*, (select count(*) from (select from (${seen}) seen group by seen.name) names) as total
              from ${ownerWhere(actor, sql.raw('true'), organizationFor(actor, 'read-organization', organizationName))}
            -- Once, and not for each row of the page.
            offset 0) owner
      left join lateral (select seen.name, ${USE} from (${seen}) seen group by seen.name order by seen.name ${limitOf(page)})
             page on true
     order by page.name`,
  );
  const [first] = found;
  if (!first) throw notFound();
  demand(actor, 'read-organization', first);
  return tagsListedIn(found);
};
