import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { MoveWorkspacesHandler } from './moves.handler.js';
import { TagBindingsController } from './tag-bindings.controller.js';
import { TagsController } from './tags.controller.js';
import { WorkspacesController } from './workspaces.controller.js';
import { CreateWorkspaceHandler, FinalizeUploadHandler, WorkspacesHandler } from './workspaces.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [TagBindingsController, TagsController, WorkspacesController],
  providers: [CreateWorkspaceHandler, FinalizeUploadHandler, MoveWorkspacesHandler, WorkspacesHandler],
})
export class WorkspacesModule {}
