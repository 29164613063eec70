import { z } from 'zod';
import { count, defineResource, describeController, exampleText } from '#api/json-api/description';
import { RESERVED_TAG_KEYS } from '../reserved-tag-keys/reserved-tag-keys.openapi.js';
import { TagComplianceStatisticsController } from './tag-compliance-statistics.controller.js';
import { LISTED_PROJECTS } from './tag-compliance-statistics.queries.js';

export const tagComplianceStatisticsSchema = defineResource({
  name: 'TagComplianceStatistics',
  type: 'tag-compliance-statistics',
  description:
    'The numbers of workspaces that you may read, and of those without a value for a reserved tag key. It has the name of the organization as its id. HCP Terraform does not have it.',
  exampleId: 'acme',
  attributes: {
    'reserved-key-count': count('The number of reserved tag keys.'),
    'workspace-count': count('The number of workspaces that you may read.'),
    'gap-count': count('The number of these workspaces without a value for a reserved key.'),
    'project-count': count('The number of projects of these workspaces.'),
    projects: z
      .array(
        z.strictObject({
          id: exampleText('prj-6kVn3xQb8TcYw2Lz'),
          name: exampleText('Default Project'),
          'workspace-count': count(),
          'gap-count': count(),
        }),
      )
      .max(LISTED_PROJECTS)
      .meta({ description: `The ${LISTED_PROJECTS} projects with the most gaps.` }),
  },
});

export const tagComplianceStatisticsOperations = describeController(
  TagComplianceStatisticsController,
  { ...RESERVED_TAG_KEYS, resource: tagComplianceStatisticsSchema },
  { show: { summary: 'Count the workspaces with and without values for all reserved tag keys, by project' } },
);
