import type { ModuleDefinition } from '#storage/event-store';

const because = 'the documents are compared again with the restored resources';

/** The tables of state topics. The module has no events and no views. */
export const stateTopicsDefinition: ModuleDefinition = {
  name: 'state-topics',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'state_topics.documents', backup: 'empty', because },
    { table: 'state_topics.generation', backup: 'empty', because },
  ],
};
