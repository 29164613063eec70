import { toProjection, type ModuleDefinition } from '#storage/event-store';
import { vault } from './vault.projection.js';
import { PURPOSE } from './vault.js';

export const vaultDefinition: ModuleDefinition = {
  name: 'vault',
  kinds: {},
  aggregates: [],
  projections: [toProjection(vault)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'vault.secrets', backup: 'rows', organizationExport: 'rows' }],
  encryptedColumns: [{ table: 'vault.secrets', id: 'id', column: 'sealed', purpose: PURPOSE }],
};
