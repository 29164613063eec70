import { sql, type Sql } from '#platform/kernel';
import { selectGrantedWorkspaces, isPermittedByRole, type Actor } from '#api/access';

/**
 * Condition: the row `t` of workspace_tags is a flat tag or a binding without a value. The text is the same as in the
 * partial indexes, because Postgres uses them only then (libs/workspaces/workspaces/sql/010_tags_without_value.sql).
 */
export const IS_VALUELESS = sql.raw(`(t.value is null or t.value = '')`);

/**
 * Returns a table expression `owner`: the organization of the tags, with whether the caller may read all its
 * workspaces.
 */
export const selectTagOrganization = (
  actor: Actor,
  condition: Sql,
  organizations: Sql = sql.raw('organizations'),
): Sql => sql`
  (select id, name, ${isPermittedByRole(actor, 'read-workspace')} as whole from ${organizations}
    where ${condition} offset 0) owner`;

/**
 * Selects the flat tags `t` (rows of workspace_tags) of `owner`, one row for each workspace that the caller may read.
 * Names and counts of other workspaces stay hidden. One of the two parts of the union is always empty.
 */
export const selectVisibleTags = (actor: Actor, columns: Sql, where: Sql): Sql => {
  const part = (extent: Sql): Sql => sql`
    select ${columns} from workspace_tags t
     where t.organization = owner.id and ${IS_VALUELESS} and ${where} and ${extent}`;
  const granted = sql`not owner.whole and t.workspace in (${selectGrantedWorkspaces(actor)})`;
  return sql`${part(sql.raw('owner.whole'))} union all ${part(granted)}`;
};

/** Selects the name of the tag of `owner` with this id, if the caller sees a workspace that has it: one row or none. */
export const selectTagName = (actor: Actor, id: Sql): Sql => sql`
  select name from (${selectVisibleTags(actor, sql.raw('t.key as name'), sql`views.tag_id(t.organization, t.key) = ${id}`)}) seen
   limit 1`;

/** Returns an expression for `TagNames` as jsonb. */
export const selectTagNames = (actor: Actor, ids: readonly string[], organization: Sql): Sql =>
  ids.length === 0
    ? sql.raw(`'{}'::jsonb`)
    : sql`coalesce((
        select jsonb_object_agg(wanted.id, tag.name)
          from ${selectTagOrganization(actor, sql`id = ${organization}`)}
          cross join unnest(${ids}::text[]) as wanted (id)
          cross join lateral (${selectTagName(actor, sql.raw('wanted.id'))}) tag), '{}')`;
