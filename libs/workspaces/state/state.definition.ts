import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { backingData } from './backing-data/backing-data.js';
import { selectOrganizationFiles } from './files/organization-files.queries.js';
import { stateReads } from './reads.events.js';
import { backingDataEvents } from './backing-data/backing-data.js';
import { stateVersionOutputs, stateVersions } from './state.projection.js';

/** Views and files of state. The rules of state versions, and so most events, belong to the workspace. */
export const stateDefinition: ModuleDefinition = {
  name: 'state',
  kinds: { ...backingDataEvents, ...stateReads },
  aggregates: [defineAggregate('sv', backingData)],
  projections: [toProjection(stateVersions), toProjection(stateVersionOutputs)],
  // The sweeper is not listed, because it needs the blob store, which only the processes have (apps/modules.ts).
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'state.kept_files',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
  ],
  selectOrganizationFiles,
};
