import { sql, type VisiblePrincipal, type Sql, type Timestamp } from '#platform/kernel';
import { raiseConflictWhen } from '#storage/event-store';

export type TagBindingColumns = {
  readonly key: string;
  readonly value: string | null;
  readonly setAt: Timestamp;
  readonly setBy: VisiblePrincipal | null;
};

/**
 * Condition: the workspace `w` inherits the row `pt` of its project's tags, because it has no own tag with this key.
 */
export const IS_INHERITED = sql.raw(
  `not exists (select 1 from workspace_tags own where own.workspace = w.id and own.key = pt.key)`,
);

/** The tags of the project `p` as jsonb, `Tag[]` in order of insertion. */
export const PROJECT_TAGS = sql.raw(`coalesce((
  select jsonb_agg(jsonb_build_object('key', pt.key, 'value', pt.value) order by pt.added_in)
    from project_tags pt where pt.project = p.id), '[]')`);

/**
 * Returns an expression for the fixed keys of a project as jsonb: keys that it binds and that are reserved with
 * overrides disabled, so that its workspaces may not bind them. An append that decides on them must expect the versions
 * of the organization and the project, and include `raiseConflictWhenFixedKeysChanged`.
 */
export const selectFixedKeys = (project: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('key', pt.key, 'project', home.name, 'reservedTagKey', rk.id) order by pt.key)
    from project_tags pt
    join projects home on home.id = pt.project
    join reserved_tag_keys rk on rk.organization = pt.organization and rk.key = pt.key and rk.disable_overrides
   where pt.project = ${project}), '[]')`;

/**
 * Fails the append with a conflict if the project's fixed keys have changed. A change of reserved tag keys excludes
 * every append that expects the organization's version: either the append sees the change, or the change comes later in
 * the log.
 */
export const raiseConflictWhenFixedKeysChanged = (project: string, fixed: readonly object[]): Sql =>
  raiseConflictWhen(sql`${selectFixedKeys(sql`${project}`)} <> ${sql.json(fixed)}::jsonb`);
