import { Global, Module } from '@nestjs/common';
import { HistoryReader } from '#json-api';
import { WorkspaceHistoryReader } from './history.reader.js';
import { WorkspaceChangesController } from './workspace-changes.controller.js';
import { WorkspaceLocksController } from './workspace-locks.controller.js';

@Global()
@Module({
  controllers: [WorkspaceChangesController, WorkspaceLocksController],
  providers: [{ provide: HistoryReader, useClass: WorkspaceHistoryReader }],
  exports: [HistoryReader],
})
export class HistoryModule {}
