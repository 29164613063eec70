import { sql, type Sql } from '#platform/kernel';
import { IS_VALUELESS } from './flat-tags.queries.js';

/**
 * Selects the workspaces of an organization with their own tag of this key, as a set to join. `offset 0` makes the
 * planner read the set once. Without it, the planner underestimates the size of projects and checks a hundred thousand
 * workspaces one by one.
 */
export const selectWorkspacesTaggedWith = (organization: Sql, key: Sql): Sql => sql`(
  select t.workspace from workspace_tags t where t.organization = ${organization} and t.key = ${key} offset 0)`;

/**
 * Selects `id` and `name` of the workspaces that have no value for a key, each once: workspaces whose own tag has no
 * value, and workspaces without an own tag in projects that have no value either. If projects have values, few rows are
 * read, however many workspaces there are.
 *
 * `keys`: a table expression `rk` with `organization` and `key`. `isInScope`: a condition about the workspace `w`.
 */
export const selectTagGaps = (keys: Sql, isInScope: Sql): Sql => sql`
  select distinct lacking.id, lacking.name
    from ${keys}
    cross join lateral (
      select w.id, w.name
        from workspace_tags t join workspaces w on w.id = t.workspace
       where t.organization = rk.organization and t.key = rk.key and ${IS_VALUELESS} and ${isInScope}
      union all
      select w.id, w.name
        from projects p join workspaces w on w.project = p.id
       where p.organization = rk.organization and ${isInScope}
         and not exists (select 1 from project_tags pt
                          where pt.project = p.id and pt.key = rk.key and pt.value <> '')
         and not exists (select 1 from ${selectWorkspacesTaggedWith(sql.raw('rk.organization'), sql.raw('rk.key'))} t
                          where t.workspace = w.id)) lacking`;

/** Selects the ids of the workspaces of `owner` that have no value for one of its reserved tag keys. */
export const selectWorkspacesWithTagGaps = (): Sql => sql`
  select gaps.id from (${selectTagGaps(
    sql.raw('(select k.organization, k.key from reserved_tag_keys k where k.organization = owner.id) rk'),
    sql.raw('true'),
  )}) gaps`;
