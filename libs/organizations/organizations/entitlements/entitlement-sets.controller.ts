import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { renderEntitlementSet } from './entitlement-sets.document.js';
import { findEntitlementSet } from './entitlements.queries.js';

@Controller('api/v2')
export class EntitlementSetsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/entitlement-set')
  async show(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderEntitlementSet(await findEntitlementSet(this.database, actor, name)));
  }
}
