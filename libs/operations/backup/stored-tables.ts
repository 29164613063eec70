import type { ModuleDefinition } from '#storage/event-store';

/** Tables of the log that a backup contains completely, whatever the position. */
const LOG_TABLES = ['event_store.contexts', 'event_store.person_keys'];

/** Returns the tables whose rows a backup contains, in the order in which a restore inserts them. */
export const listStoredTables = (definitions: readonly ModuleDefinition[]): readonly string[] => [
  ...LOG_TABLES,
  ...definitions.flatMap(({ tablesOutsideLog = [] }) =>
    tablesOutsideLog.filter(({ backup }) => backup === 'rows').map(({ table }) => table),
  ),
];
