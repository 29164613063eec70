import { z } from 'zod';
import { count, defineResource, describeController, exampleText } from '#api/json-api/description';
import { STATE_VERSIONS } from '../state-versions/state-versions.openapi.js';
import { ResourceStatisticsController } from './resource-statistics.controller.js';
import { LISTED_TYPES } from './resource-statistics.queries.js';

export const resourceStatisticsSchema = defineResource({
  name: 'ResourceStatistics',
  type: 'resource-statistics',
  description:
    'The numbers of resources in the current states that you may read. It has the name of the organization as its id. HCP Terraform does not have it.',
  exampleId: 'acme',
  attributes: {
    'state-count': count('The number of workspaces with a state that you may read.'),
    'resource-count': count('The number of resources in these states.'),
    'type-count': count('The number of different types of these resources.'),
    types: z
      .array(
        z.strictObject({
          provider: exampleText('provider["registry.terraform.io/hashicorp/aws"]'),
          type: exampleText('aws-subnet'),
          'resource-count': count(),
          'workspace-count': count('The number of workspaces with resources of this type.'),
        }),
      )
      .max(LISTED_TYPES)
      .meta({ description: `The ${LISTED_TYPES} types with the most resources.` }),
  },
});

export const resourceStatisticsOperations = describeController(
  ResourceStatisticsController,
  { ...STATE_VERSIONS, resource: resourceStatisticsSchema },
  {
    show: {
      summary: 'Count the resources of an organization by provider and type',
      description: 'Counts the resources of the current states that you may read. The audit trail does not record it.',
    },
  },
);
