import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { notFound, unprocessable } from '#platform/kernel';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  ignoredMember,
  parseBody,
  requiredToOne,
  resourceBody,
  toOne,
  type Document,
  type Resource,
} from '#api/json-api';
import { renderFeatureSet } from './feature-sets.controller.js';
import { FEATURE_SETS } from '../organizations/organization.js';
import { ChangeOrganization } from '../organizations/organizations.handler.js';
import { findOrganization, type OrganizationRow } from '../organizations/organizations.queries.js';

/** Attributes of the vendor's plans (go-tfe v2.4.0, `Subscriptions_attributes`). */
export const OF_PLANS = [
  'agents-ceiling',
  'contract-apply-limit',
  'contract-managed-resources-limit',
  'contract-start-at',
  'contract-user-limit',
  'end-at',
  'free-apply-monthly-limit',
  'free-apply-monthly-limit-remaining',
  'free-apply-monthly-limit-starts-at',
  'free-resource-under-management-monthly-limit',
  'hcp-organization-id',
  'hcp-project-id',
  'is-active',
  'is-change-approved',
  'is-public-free-tier',
  'is-self-serve-trial',
  'policy-limit',
  'policy-mandatory-enforcement-limit',
  'policy-set-limit',
  'rum-alert-threshold',
  'rum-threshold-alert-sent-at',
  'run-task-limit',
  'run-task-mandatory-enforcement-limit',
  'run-task-workspace-limit',
  'runs-ceiling',
  'start-at',
  'versioned-policy-set-limit',
];

const NO_PLANS = 'the feature set decides what an organization can do; plans with limits and dates are not built';

export const body = resourceBody(
  // go-tfe writes the type in the singular.
  ['subscription', 'subscriptions'],
  z.object(Object.fromEntries(OF_PLANS.map((name) => [name, ignoredMember(NO_PLANS)]))).nullish(),
  z.object({ 'feature-set': requiredToOne }),
);

export const deriveSubscriptionId = (organization: string): string => `sub-${organization.slice('org-'.length)}`;

export const renderSubscription = (row: OrganizationRow): Resource => ({
  id: deriveSubscriptionId(row.id),
  type: 'subscriptions',
  attributes: { 'is-active': true, 'end-at': null, 'runs-ceiling': null, 'agents-ceiling': null },
  relationships: {
    organization: toOne('organizations', row.name),
    'feature-set': toOne('feature-sets', `fs-${row.featureSet}`),
  },
});

const renderWithFeatureSet = (row: OrganizationRow): Document =>
  renderDocument(renderSubscription(row), [renderFeatureSet(row.featureSet)]);

@Controller('api/v2')
export class SubscriptionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/subscription')
  async show(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderWithFeatureSet(await findOrganization(this.database, actor, 'read-entitlements', name));
  }

  @Post('admin/organizations/:organization/subscription')
  @HttpCode(200)
  async change(
    @Param('organization') name: string,
    @Body() input: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { id } = parseBody(body, input).data.relationships['feature-set'].data;
    const featureSet = FEATURE_SETS.find((candidate) => `fs-${candidate}` === id || candidate === id);
    if (!featureSet) throw unprocessable('Feature set does not exist', '/data/relationships/feature-set');
    const row = await this.bus.execute(new ChangeOrganization('ChangeFeatureSet', { name, featureSet, actor }));
    if (!row) throw notFound();
    return renderWithFeatureSet(row);
  }
}
