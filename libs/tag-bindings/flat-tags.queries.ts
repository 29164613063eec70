import { sql, type Sql } from '#kernel';
import { selectGrantedWorkspaces, isPermittedByRole, type Actor } from '#access';

/**
 * Whether the row `t` of workspace_tags is in the family of flat tags: it is one, or a binding without a value. In the words
 * of the partial indexes, which Postgres takes for nothing else (libs/workspaces/sql/010_tags_without_value.sql).
 */
export const IS_VALUELESS = sql.raw(`(t.value is null or t.value = '')`);

/** The organization that flat tags are looked for in: in SQL `owner`, with whether the caller reads all workspaces there. */
export const selectTagOrganization = (
  actor: Actor,
  condition: Sql,
  organizations: Sql = sql.raw('organizations'),
): Sql => sql`
  (select id, name, ${isPermittedByRole(actor, 'read-workspace')} as whole from ${organizations}
    where ${condition} offset 0) owner`;

/**
 * Flat tags of workspaces of `owner`: those that the caller may read, for of the others they learn nothing, neither names
 * nor numbers. A row for each workspace; in SQL `t`, one of workspace_tags. One of the parts is empty.
 */
export const selectVisibleTags = (actor: Actor, columns: Sql, where: Sql): Sql => {
  const part = (extent: Sql): Sql => sql`
    select ${columns} from workspace_tags t
     where t.organization = owner.id and ${IS_VALUELESS} and ${where} and ${extent}`;
  const granted = sql`not owner.whole and t.workspace in (${selectGrantedWorkspaces(actor)})`;
  return sql`${part(sql.raw('owner.whole'))} union all ${part(granted)}`;
};

/** The name of the tag of `owner` with that id, where the caller sees a workspace that carries it: one row or none. */
export const selectTagName = (actor: Actor, id: Sql): Sql => sql`
  select name from (${selectVisibleTags(actor, sql.raw('t.key as name'), sql`views.tag_id(t.organization, t.key) = ${id}`)}) seen
   limit 1`;

/** `TagNames` as jsonb. */
export const selectTagNames = (actor: Actor, ids: readonly string[], organization: Sql): Sql =>
  ids.length === 0
    ? sql.raw(`'{}'::jsonb`)
    : sql`coalesce((
        select jsonb_object_agg(wanted.id, tag.name)
          from ${selectTagOrganization(actor, sql`id = ${organization}`)}
          cross join unnest(${ids}::text[]) as wanted (id)
          cross join lateral (${selectTagName(actor, sql.raw('wanted.id'))}) tag), '{}')`;
