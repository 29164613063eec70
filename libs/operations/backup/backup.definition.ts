import type { ModuleDefinition } from '#storage/event-store';

export const backupDefinition: ModuleDefinition = {
  name: 'backup',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'backup.unfinished_restore', backup: 'empty', because: 'it describes the restore itself' },
    {
      table: 'backup.deferred_deletions',
      backup: 'empty',
      because: 'no event of the backup needs these files, so a restore does not copy them',
    },
  ],
};
