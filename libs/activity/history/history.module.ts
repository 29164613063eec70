import { Global, Module } from '@nestjs/common';
import { HistoryReader } from '#api/json-api';
import { WorkspaceHistoryReader } from './as-of/history.reader.js';
import { WorkspaceChangesController } from './workspace-changes/workspace-changes.controller.js';
import { WorkspaceLocksController } from './workspace-locks/workspace-locks.controller.js';

@Global()
@Module({
  controllers: [WorkspaceChangesController, WorkspaceLocksController],
  providers: [{ provide: HistoryReader, useClass: WorkspaceHistoryReader }],
  exports: [HistoryReader],
})
export class HistoryModule {}
