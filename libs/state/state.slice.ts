import type { Slice } from '#event-store';

export const stateSlice: Slice = {
  name: 'state',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
