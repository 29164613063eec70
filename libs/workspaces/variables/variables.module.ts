import { Global, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { WorkspaceVariables } from '#workspaces/workspaces';
import { VariableSetsHandler } from './variable-sets/variable-sets.handler.js';
import { VariablesHandler } from './variables/variables.handler.js';
import { VarsController } from './variables/vars.controller.js';
import { WorkspaceVariablesReader } from './variables/workspace-variables.reader.js';
import { VarsetsController } from './variable-sets/varsets.controller.js';

// Workspaces include variables through a port that they declare; they do not import this module.
@Global()
@Module({
  imports: [CqrsModule],
  controllers: [VarsController, VarsetsController],
  providers: [
    VariablesHandler,
    VariableSetsHandler,
    { provide: WorkspaceVariables, useClass: WorkspaceVariablesReader },
  ],
  exports: [WorkspaceVariables],
})
export class VariablesModule {}
