import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CreateVariableSetHandler, VariableSetsHandler } from './variable-sets.handler.js';
import { CreateVariableHandler, VariablesHandler } from './variables.handler.js';
import { VarsController } from './vars.controller.js';
import { VarsetsController } from './varsets.controller.js';

@Module({
  imports: [CqrsModule],
  controllers: [VarsController, VarsetsController],
  providers: [CreateVariableHandler, VariablesHandler, CreateVariableSetHandler, VariableSetsHandler],
})
export class VariablesModule {}
