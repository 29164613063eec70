import { Controller, Get, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { confirm, CurrentActor, demand, SITE, type Actor } from '#access';
import { Database } from '#event-store';
import {
  pageDocument,
  pageOf,
  parameter,
  shownOf,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { ENTITLEMENTS } from './entitlements.js';
import { FEATURE_SETS, type FeatureSet } from './organization.js';

const NAMES: Readonly<Record<FeatureSet, string>> = { everything: 'Everything', free: 'Free' };

export const featureSetResource = (featureSet: FeatureSet): Resource => ({
  id: `fs-${featureSet}`,
  type: 'feature-sets',
  attributes: {
    name: NAMES[featureSet],
    identifier: featureSet,
    'is-current': true,
    'is-free-tier': featureSet === 'free',
    'comparison-description': null,
    cost: 0,
    description: featureSet === 'free' ? 'Everything but the audit trail' : 'Everything that Cadastre has',
    plan: null,
    ...ENTITLEMENTS[featureSet],
  },
});

@Controller('api/v2')
export class FeatureSetsController {
  constructor(private readonly database: Database) {}

  /** For the site's administrators. */
  @Get('admin/feature-sets')
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    await confirm(this.database, actor);
    demand(actor, 'manage-site', SITE);
    const search = parameter(query, 'q')?.toLowerCase() ?? '';
    const page = pageOf(query);
    const found = FEATURE_SETS.filter((identifier) =>
      [identifier, NAMES[identifier]].some((text) => text.toLowerCase().includes(search)),
    );
    return pageDocument(shownOf(found, page).map(featureSetResource), page, found.length, request.url);
  }
}
