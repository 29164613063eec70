import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { runTrigger, runTriggerEvents } from './run-trigger.js';
import { RunTriggersController } from './run-triggers.controller.js';
import { RunTriggersHandler } from './run-triggers.handler.js';
import { runTriggers } from './run-triggers.view.js';

export const runTriggersDefinition: ModuleDefinition = {
  name: 'run-triggers',
  kinds: runTriggerEvents,
  aggregates: [defineAggregate('rt', runTrigger)],
  projections: [toProjection(runTriggers)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [RunTriggersController],
  providers: [RunTriggersHandler],
})
export class RunTriggersModule {}
