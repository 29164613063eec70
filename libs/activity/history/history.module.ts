import { Global, Module } from '@nestjs/common';
import type { EventRegistry } from '#platform/kernel';
import type { ModuleDefinition } from '#storage/event-store';
import { HistoryReader } from '#api/json-api';
import { createHistoryFollower } from './writing/history.follower.js';
import { WorkspaceHistoryReader } from './as-of/history.reader.js';
import { WorkspaceChangesController } from './workspace-changes/workspace-changes.controller.js';
import { WorkspaceLocksController } from './workspace-locks/workspace-locks.controller.js';

/** The module defines no events of its own. It records versions of resources as the definitions of all events say. */
export const createHistoryDefinition = (registry: EventRegistry): ModuleDefinition => ({
  name: 'history',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [createHistoryFollower(registry)],
  migrations: new URL('./sql/', import.meta.url),
});

@Global()
@Module({
  controllers: [WorkspaceChangesController, WorkspaceLocksController],
  providers: [{ provide: HistoryReader, useClass: WorkspaceHistoryReader }],
  exports: [HistoryReader],
})
export class HistoryModule {}
