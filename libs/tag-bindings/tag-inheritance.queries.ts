import { sql, type VisiblePrincipal, type Sql, type Timestamp } from '#kernel';
import { raiseConflictWhen } from '#event-store';

export type TagBindingColumns = {
  readonly key: string;
  readonly value: string | null;
  readonly setAt: Timestamp;
  readonly setBy: VisiblePrincipal | null;
};

/** Whether the workspace `w` says nothing itself of what the row `pt` of its project binds: then it inherits that. */
export const IS_INHERITED = sql.raw(
  `not exists (select 1 from workspace_tags own where own.workspace = w.id and own.key = pt.key)`,
);

/** What the project `p` binds, as jsonb: `Tag[]` in order of insertion. */
export const PROJECT_TAGS = sql.raw(`coalesce((
  select jsonb_agg(jsonb_build_object('key', pt.key, 'value', pt.value) order by pt.added_in)
    from project_tags pt where pt.project = p.id), '[]')`);

/**
 * The keys that workspaces in a project may not bind, as jsonb: it binds them itself, and they are reserved with overrides
 * disabled. An append that decides on them holds the organization and the project, and checks raiseConflictWhenFixedKeysChanged.
 */
export const selectFixedKeys = (project: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('key', pt.key, 'project', home.name, 'reservedTagKey', rk.id) order by pt.key)
    from project_tags pt
    join projects home on home.id = pt.project
    join reserved_tag_keys rk on rk.organization = pt.organization and rk.key = pt.key and rk.disable_overrides
   where pt.project = ${project}), '[]')`;

/**
 * Refuses an append as stale if the project fixes other keys by now. Changes of reserved tag keys keep out every append
 * that holds the organization: either this one sees the change, or the change comes later in the log.
 */
export const raiseConflictWhenFixedKeysChanged = (project: string, fixed: readonly object[]): Sql =>
  raiseConflictWhen(sql`${selectFixedKeys(sql`${project}`)} <> ${sql.json(fixed)}::jsonb`);
