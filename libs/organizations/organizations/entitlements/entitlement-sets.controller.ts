import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document, type Resource } from '#api/json-api';
import { ENTITLEMENTS } from './entitlements.js';
import { findOrganization, type OrganizationRow } from '../organizations/organizations.queries.js';

export const renderEntitlementSet = ({ id, name, featureSet }: OrganizationRow): Resource => ({
  id,
  type: 'entitlement-sets',
  attributes: ENTITLEMENTS[featureSet],
  links: { self: `/api/v2/organizations/${name}/entitlement-set` },
});

@Controller('api/v2')
export class EntitlementSetsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/entitlement-set')
  async show(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(
      renderEntitlementSet(await findOrganization(this.database, actor, 'read-entitlements', name)),
    );
  }
}
