import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { Database } from '#platform/postgres';
import { countResources } from './resource-statistics.queries.js';

/** Counts the resources of the current states of an organization. */
@Controller('api/v2/organizations/:organization/resource-statistics')
export class ResourceStatisticsController {
  constructor(private readonly database: Database) {}

  @Get()
  async show(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    const counted = await countResources(this.database, actor, organization);
    return renderDocument({
      id: organization,
      type: 'resource-statistics',
      attributes: {
        'state-count': counted.stateCount,
        'resource-count': counted.resourceCount,
        'type-count': counted.typeCount,
        types: counted.listed.map(({ provider, type, resources, workspaces }) => ({
          provider,
          type,
          'resource-count': resources,
          'workspace-count': workspaces,
        })),
      },
    });
  }
}
