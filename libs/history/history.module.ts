import { Module } from '@nestjs/common';
import { WorkspaceChangesController } from './workspace-changes.controller.js';
import { WorkspaceLocksController } from './workspace-locks.controller.js';

@Module({ controllers: [WorkspaceChangesController, WorkspaceLocksController] })
export class HistoryModule {}
