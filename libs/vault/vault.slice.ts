import { projectionOf, type Slice } from '#event-store';
import { vault } from './vault.projection.js';
import { PURPOSE } from './vault.js';

export const vaultSlice: Slice = {
  name: 'vault',
  kinds: {},
  aggregates: [],
  projections: [projectionOf(vault)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  encryptedColumns: [{ table: 'vault.secrets', id: 'id', column: 'sealed', purpose: PURPOSE }],
};
