import { Global, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { WorkspaceVariables } from '#workspaces/workspaces';
import { variableReads } from './reads.events.js';
import { variableSet } from './variable-sets/variable-set.js';
import { variableSetEvents } from './variable-sets/variable-sets.events.js';
import { variable } from './variables/variable.js';
import { variableEvents } from './variables/variables.events.js';
import { VARIABLE_SET_NAMES } from './variable-sets/variable-set-names.js';
import { variables, variableSecrets, variableSetNames } from './variables.projection.js';
import { VariableSetsHandler } from './variable-sets/variable-sets.handler.js';
import { VariablesHandler } from './variables/variables.handler.js';
import { VarsController } from './variables/vars.controller.js';
import { WorkspaceVariablesReader } from './variables/workspace-variables.reader.js';
import { VarsetsController } from './variable-sets/varsets.controller.js';

export const variablesDefinition: ModuleDefinition = {
  name: 'variables',
  kinds: {
    ...variableEvents,
    ...variableSetEvents,
    ...variableReads,
  },
  aggregates: [defineAggregate('var', variable), defineAggregate('varset', variableSet)],
  projections: [toProjection(variableSecrets), toProjection(variables), toProjection(variableSetNames)],
  followers: [],
  uniqueNames: [VARIABLE_SET_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

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
