import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { verifyCurrentAccess, CurrentActor, requirePermission, SITE_SCOPE, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderPage,
  parsePage,
  getParameter,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ENTITLEMENTS } from './entitlements.js';
import { FEATURE_SETS, type FeatureSet } from '../organizations/organization.js';
import { findOrganization } from '../organizations/organizations.queries.js';

const NAMES: Readonly<Record<FeatureSet, string>> = { everything: 'Everything', free: 'Free' };

export const renderFeatureSet = (featureSet: FeatureSet): Resource => ({
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

/** Renders one page of the feature sets whose name or identifier contains `q`, ignoring case. */
const listFeatureSets = (query: QueryOf, publicUrl: string): Document => {
  const search = getParameter(query, 'q')?.toLowerCase() ?? '';
  const page = parsePage(query);
  const matches = FEATURE_SETS.filter((identifier) =>
    [identifier, NAMES[identifier]].some((text) => text.toLowerCase().includes(search)),
  );
  return renderPage(slicePage(matches, page).map(renderFeatureSet), page, matches.length, publicUrl);
};

/** Three paths return the same list, because every organization of a site can have every feature set. */
@Controller('api/v2')
export class FeatureSetsController {
  constructor(private readonly database: Database) {}

  @Get('feature-sets')
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    await verifyCurrentAccess(this.database, actor);
    return listFeatureSets(query, request.publicUrl);
  }

  @Get('organizations/:organization/feature-sets')
  async listOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    await findOrganization(this.database, actor, 'read-entitlements', name);
    return listFeatureSets(query, request.publicUrl);
  }

  @Get('admin/feature-sets')
  async listOfSite(
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'manage-site', SITE_SCOPE);
    return listFeatureSets(query, request.publicUrl);
  }
}
