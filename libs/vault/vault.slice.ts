import { projectionOf, type Slice } from '#event-store';
import { vault } from './vault.projection.js';

export const vaultSlice: Slice = {
  name: 'vault',
  kinds: {},
  aggregates: [],
  projections: [projectionOf(vault)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
