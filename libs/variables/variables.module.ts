import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { VariableSetsHandler } from './variable-sets/variable-sets.handler.js';
import { VariablesHandler } from './variables/variables.handler.js';
import { VarsController } from './variables/vars.controller.js';
import { VarsetsController } from './variable-sets/varsets.controller.js';

@Module({
  imports: [CqrsModule],
  controllers: [VarsController, VarsetsController],
  providers: [VariablesHandler, VariableSetsHandler],
})
export class VariablesModule {}
