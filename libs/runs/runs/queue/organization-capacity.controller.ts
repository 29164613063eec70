import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { loadCapacity } from '../runs/run-lists.queries.js';

/**
 * Reports how busy an organization is. There is no limit on concurrent runs: executors decide how many runs they take.
 */
@Controller('api/v2/organizations/:organization/capacity')
export class OrganizationCapacityController {
  constructor(private readonly database: Database) {}

  @Get()
  async show(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { pending, running } = await loadCapacity(this.database, actor, organization);
    return renderDocument({ id: organization, type: 'organization-capacity', attributes: { pending, running } });
  }
}
