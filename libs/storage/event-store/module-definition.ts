import type { Decider, EventRegistry, Message, Projection, Sql, UniqueNames } from '#platform/kernel';
import type { EncryptedColumn } from './keys/encrypted-column.js';
import type { Follower } from './followers/follower.js';

/** An aggregate for rebuild and verify. `prefix` is the beginning of its stream ids, such as `ws`. */
export type Aggregate = { readonly prefix: string; readonly decider: Decider<unknown, never, never> };

/**
 * A table that is neither a view nor a part of the log, and what a backup does with it: it contains the rows, or a
 * restore fills the table with a statement, or the table stays empty.
 */
export type TableOutsideLog = { readonly table: string } & (
  | {
      readonly backup: 'rows';
      /**
       * What an export of an organization does with the table: it contains the rows whose column `organization` has the
       * organization's id, or none. An import refuses rows unless the export has all resources that `listOwners` returns.
       * Rows for which it returns none are not exported.
       */
      readonly organizationExport:
        | { readonly listOwners: (row: Readonly<Record<string, unknown>>) => readonly unknown[] }
        | { readonly without: string };
      /** Deletes the rows of events that a restore up to a position leaves out, before it rebuilds the views. */
      readonly trim?: Sql;
    }
  | { readonly backup: 'refill'; readonly refill: Sql }
  | { readonly backup: 'empty'; readonly because: string }
);

/**
 * The parts of a module that concern the log: its events, deciders, views, and the SQL of its tables. apps/modules.ts
 * lists all definitions; no module registers itself.
 */
export type ModuleDefinition = {
  readonly name: string;
  readonly kinds: EventRegistry;
  readonly aggregates: readonly Aggregate[];
  readonly projections: readonly Projection[];
  readonly followers: readonly Follower[];
  /** Names that are unique and found regardless of case. `verify` reports older names that differ only in case. */
  readonly uniqueNames?: readonly UniqueNames[];
  /** Folder of numbered, forward-only migrations; null if the module has no tables. */
  readonly migrations: URL | null;
  /** Columns of its tables that are encrypted with the encryption key. */
  readonly encryptedColumns?: readonly EncryptedColumn[];
  /**
   * Selects the keys of an organization's files in the file store as `key`. Some of the files may not exist. The statement
   * names views without their schema, because an import lets it read the copies of the views.
   */
  readonly selectOrganizationFiles?: (organization: string) => Sql;
  /** Tables that refer to others come after them. */
  readonly tablesOutsideLog?: readonly TableOutsideLog[];
};

export const defineAggregate = <S, C extends Message, E extends Message>(
  prefix: string,
  decider: Decider<S, C, E>,
): Aggregate => ({ prefix, decider: decider as unknown as Aggregate['decider'] });

export const toProjection = (
  projection: Omit<Projection, 'on' | 'bulk'> & { readonly on: object; readonly bulk?: object },
): Projection => projection as unknown as Projection;

export const buildEventRegistry = (definitions: readonly ModuleDefinition[]): EventRegistry => {
  const entries = definitions.flatMap((definition) => Object.entries(definition.kinds));
  const registry = Object.fromEntries(entries);
  if (Object.keys(registry).length !== entries.length) throw new Error('two modules define the same event type');
  return registry;
};
