import { sql, type Sql } from '#platform/kernel';
import type { DatabaseRow, DatabaseSession } from '#platform/postgres';
import type { TableIndex } from '../followers/follower.js';
import type { RebuildableView } from './views.js';

/**
 * The schema of the copies: `views_next` for ordinary tables that replace the live ones, `pg_temp` for temporary tables
 * that are compared with them.
 */
type CopySchema = 'views_next' | 'pg_temp';

type TableColumn = {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly default: string | null;
  readonly options: readonly string[] | null;
  readonly statistics: number | null;
};

/** The properties of a table that a migration can change. */
type TableDefinition = {
  readonly columns: readonly TableColumn[];
  readonly indexes: readonly TableIndex[];
  readonly checks: readonly string[];
  readonly options: readonly string[] | null;
  readonly triggers: readonly string[];
  readonly grants: readonly string[];
};

/** Thrown if a migration changed a table while its copy was filled. */
class ChangedTableError extends Error {
  constructor(table: string) {
    super(`views.${table} was changed by a migration while it was rebuilt`);
    this.name = 'ChangedTable';
  }
}

const readTableDefinition = async (session: DatabaseSession, table: string): Promise<TableDefinition> => {
  const [definition] = await session.run<TableDefinition & DatabaseRow>(sql`
    select (select coalesce(jsonb_agg(jsonb_build_object(
                     'name', quote_ident(a.attname), 'type', format_type(a.atttypid, a.atttypmod), 'isRequired', a.attnotnull,
                     'default', pg_get_expr(d.adbin, d.adrelid), 'options', a.attoptions,
                     'statistics', nullif(a.attstattarget, -1)) order by a.attnum), '[]')
              from pg_attribute a
              left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
           (select coalesce(jsonb_agg(jsonb_build_object(
                     'name', quote_ident(i.relname), 'definition', pg_get_indexdef(i.oid), 'isPrimary', x.indisprimary,
                     'isUnique', x.indisunique, 'constraint', pg_get_constraintdef(k.oid)) order by i.oid), '[]')
              from pg_index x
              join pg_class i on i.oid = x.indexrelid
              left join pg_constraint k on k.conindid = i.oid and k.conrelid = c.oid
             where x.indrelid = c.oid) as indexes,
           (select coalesce(jsonb_agg(k.conname || ' ' || pg_get_constraintdef(k.oid) order by k.conname), '[]')
              from pg_constraint k where k.conrelid = c.oid and k.contype = 'c') as checks,
           c.reloptions as options,
           (select coalesce(jsonb_agg(pg_get_triggerdef(t.oid) order by t.tgname), '[]')
              from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as triggers,
           (select coalesce(jsonb_agg(format('grant %s on views.%I to %s%s', g.privilege_type, c.relname,
                     case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
                     case when g.is_grantable then ' with grant option' else '' end)), '[]')
              from aclexplode(c.relacl) g) as grants
      from pg_class c where c.oid = ${`views.${table}`}::regclass`);
  if (!definition) throw new Error(`there is no table views.${table}`);
  return definition;
};

/**
 * Copies of a view's tables in another schema, which the session's search path finds first, so that the same statements
 * write them. Unique indexes except the primary key are created last: during the replay, two streams can have the same
 * name for a moment, because concurrent transactions committed in another order than that of the log.
 */
export class ViewCopy {
  private constructor(
    private readonly session: DatabaseSession,
    private readonly view: RebuildableView,
    private readonly schema: CopySchema,
    private readonly definitions: ReadonlyMap<string, TableDefinition>,
  ) {}

  /** Drops the copies of an interrupted rebuild. The caller must hold the lock of rebuilds. */
  static async dropAll(session: DatabaseSession): Promise<void> {
    const tables = await session.run<{ name: string }>(
      sql`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'views_next'`,
    );
    if (tables.length > 0) await session.run(sql.raw(`drop table ${tables.map(({ name }) => name).join(', ')}`));
  }

  static async create(session: DatabaseSession, view: RebuildableView, schema: CopySchema): Promise<ViewCopy> {
    if (schema === 'views_next') await session.run(sql`set search_path = views_next, views`);
    const definitions = new Map<string, TableDefinition>();
    for (const table of view.tables) definitions.set(table, await readTableDefinition(session, table));
    const copy = new ViewCopy(session, view, schema, definitions);
    copy.checkReplayIndexes();
    for (const [table, definition] of definitions) {
      const kind = schema === 'pg_temp' ? 'temporary' : 'unlogged';
      // An unlogged table needs no WAL. A crash of Postgres empties it, and the rebuild then starts again.
      await session.run(
        sql.raw(`create ${kind} table ${copy.nameOf(table)} (like views.${table} including all excluding indexes)`),
      );
      for (const statement of copy.buildSettings(table, definition)) await session.run(statement);
      for (const index of copy.listIndexes(table, definition)) {
        if (!copy.isLate(table, index)) await session.run(copy.buildIndex(table, index));
      }
    }
    return copy;
  }

  /** Writes the copies to disk, without the dead rows that updates left. */
  async makeDurable(): Promise<void> {
    for (const table of this.view.tables) {
      await this.session.run(sql.raw(`alter table ${this.nameOf(table)} set logged`));
    }
  }

  /** Creates the unique indexes, or the other indexes that the replay did not need. */
  async createLateIndexes(kind: 'unique' | 'other'): Promise<void> {
    for (const [table, index] of this.listLateIndexes()) {
      if (index.isUnique === (kind === 'unique')) await this.session.run(this.buildIndex(table, index));
    }
  }

  async dropUniqueIndexes(): Promise<void> {
    for (const [table, index] of this.listLateIndexes()) {
      if (!index.isUnique) continue;
      const statement = index.constraint
        ? `alter table ${this.nameOf(table)} drop constraint if exists ${index.name}`
        : `drop index if exists ${this.schema}.${index.name}`;
      await this.session.run(sql.raw(statement));
    }
  }

  /** Collects statistics, and marks pages for index-only scans, so that queries are fast right after the exchange. */
  async vacuum(): Promise<void> {
    for (const table of this.view.tables) await this.session.run(sql.raw(`vacuum (analyze) ${this.nameOf(table)}`));
  }

  /** Locks the live tables against all access until the end of the transaction. */
  async lockLiveTables(): Promise<void> {
    const tables = this.view.tables.map((table) => `views.${table}`).join(', ');
    await this.session.run(sql.raw(`lock table ${tables} in access exclusive mode`));
  }

  /**
   * Replaces the live tables with the copies. The caller must have locked the live tables. Throws ChangedTableError.
   */
  async replaceLiveTables(): Promise<void> {
    for (const [table, definition] of this.definitions) {
      const live = await readTableDefinition(this.session, table);
      if (JSON.stringify(live) !== JSON.stringify(definition)) throw new ChangedTableError(table);
      await this.session.pipeline([
        sql.raw(`drop table views.${table}`),
        sql.raw(`alter table ${this.nameOf(table)} set schema views`),
        ...[...definition.triggers, ...definition.grants].map(sql.raw),
      ]);
    }
  }

  nameOf(table: string): string {
    return `${this.schema}.${table}`;
  }

  private checkReplayIndexes(): void {
    const names = [...this.definitions].flatMap(([table, definition]) =>
      this.listIndexes(table, definition).map(({ name }) => name),
    );
    const missing = this.view.replayIndexes?.find((name) => !names.includes(name));
    if (missing !== undefined) throw new Error(`the tables of the view ${this.view.name} have no index ${missing}`);
  }

  private listLateIndexes(): readonly (readonly [string, TableIndex])[] {
    return [...this.definitions].flatMap(([table, definition]) =>
      this.listIndexes(table, definition)
        .filter((index) => this.isLate(table, index))
        .map((index) => [table, index] as const),
    );
  }

  /** Returns the indexes of the live table, with those of the version of the code instead of earlier ones. */
  private listIndexes(table: string, { indexes }: TableDefinition): readonly TableIndex[] {
    const declared = this.view.follower?.indexes?.[table];
    if (!declared) return indexes;
    const replaced = new Set([...declared.retired, ...declared.current.map(({ name }) => name)]);
    return [...declared.current, ...indexes.filter(({ name }) => !replaced.has(name))];
  }

  /** Returns whether an index is created after the replay, which needs the others to find its own rows. */
  private isLate(table: string, { name, isPrimary, isUnique }: TableIndex): boolean {
    const { follower, replayIndexes } = this.view;
    const isNeeded = replayIndexes?.includes(name) ?? !follower?.growing?.includes(table);
    return !isPrimary && (isUnique || !isNeeded);
  }

  private buildIndex(table: string, { name, definition, constraint }: TableIndex): Sql {
    if (constraint !== null) return sql.raw(`alter table ${this.nameOf(table)} add constraint ${name} ${constraint}`);
    return sql.raw(definition.replace(` ON views.${table} `, ` ON ${this.nameOf(table)} `));
  }

  private buildSettings(table: string, { options, columns }: TableDefinition): readonly Sql[] {
    const alter = `alter table ${this.nameOf(table)}`;
    return [
      ...(options === null ? [] : [sql.raw(`${alter} set (${options.join(', ')})`)]),
      ...columns.flatMap((column) => [
        ...(column.options === null
          ? []
          : [sql.raw(`${alter} alter column ${column.name} set (${column.options.join(', ')})`)]),
        ...(column.statistics === null
          ? []
          : [sql.raw(`${alter} alter column ${column.name} set statistics ${column.statistics}`)]),
      ]),
    ];
  }
}
