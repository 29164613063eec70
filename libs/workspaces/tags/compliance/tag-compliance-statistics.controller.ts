import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { Database } from '#platform/postgres';
import { countTagCompliance } from './tag-compliance-statistics.queries.js';

/** Counts the workspaces that have a value for each reserved tag key. */
@Controller('api/v2/organizations/:organization/tag-compliance-statistics')
export class TagComplianceStatisticsController {
  constructor(private readonly database: Database) {}

  @Get()
  async show(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { keys, workspaces, gaps, projects, listed } = await countTagCompliance(this.database, actor, organization);
    return renderDocument({
      id: organization,
      type: 'tag-compliance-statistics',
      attributes: {
        'reserved-key-count': keys,
        'workspace-count': workspaces,
        'gap-count': gaps,
        'project-count': projects,
        projects: listed.map((project) => ({
          id: project.id,
          name: project.name,
          'workspace-count': project.workspaces,
          'gap-count': project.gaps,
        })),
      },
    });
  }
}
