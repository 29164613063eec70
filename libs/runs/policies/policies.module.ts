import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { PoliciesController } from './policies.controller.js';
import { PoliciesHandler } from './policies.handler.js';
import { policies, policyNames, policyTexts } from './policies.view.js';
import { policy, policyEvents } from './policy.js';
import { policySet, policySetEvents } from './policy-set.js';
import { PolicyTextsController } from './policy-texts.controller.js';
import { PolicySetsController } from './policy-sets.controller.js';
import { PolicySetsHandler } from './policy-sets.handler.js';
import { policySetNames, policySets } from './policy-sets.view.js';

export const policiesDefinition: ModuleDefinition = {
  name: 'policies',
  kinds: { ...policyEvents, ...policySetEvents },
  aggregates: [defineAggregate('pol', policy), defineAggregate('polset', policySet)],
  projections: [
    toProjection(policies),
    toProjection(policyNames),
    toProjection(policyTexts),
    toProjection(policySets),
    toProjection(policySetNames),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

/** The policies of organizations, and the sets that apply them to workspaces. */
@Module({
  imports: [CqrsModule],
  controllers: [PoliciesController, PolicySetsController, PolicyTextsController],
  providers: [PoliciesHandler, PolicySetsHandler],
})
export class PoliciesModule {}
