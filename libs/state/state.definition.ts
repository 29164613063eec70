import { defineAggregate, toEventRegistry, toProjection, type ModuleDefinition } from '#event-store';
import { backingData } from './backing-data/backing-data.js';
import { stateReads } from './reads.events.js';
import { backingDataEvents } from './state.events.js';
import { stateVersionOutputs, stateVersions } from './state.projection.js';

/** Views and files of state; the rules of its versions, and so most events, are the workspace's. */
export const stateDefinition: ModuleDefinition = {
  name: 'state',
  kinds: { ...toEventRegistry(backingDataEvents), ...toEventRegistry(stateReads) },
  aggregates: [defineAggregate('sv', backingData)],
  projections: [toProjection(stateVersions), toProjection(stateVersionOutputs)],
  // The sweeper is none of these: it wants the files, which only the processes know (apps/modules.ts).
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
