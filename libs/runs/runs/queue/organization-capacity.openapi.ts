import { count, defineResource, describeController } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { OrganizationCapacityController } from './organization-capacity.controller.js';

export const organizationCapacitySchema = defineResource({
  name: 'OrganizationCapacity',
  type: 'organization-capacity',
  description:
    'The numbers of waiting and running runs of an organization. It has the name of the organization as its id.',
  exampleId: 'acme',
  attributes: {
    pending: count('The number of runs that wait for their turn or for an executor, and that you may read.'),
    running: count('The number of runs in progress that you may read.'),
  },
});

export const organizationCapacityOperations = describeController(
  OrganizationCapacityController,
  { ...RUNS, resource: organizationCapacitySchema },
  {
    show: {
      summary: 'Count the waiting and running runs of an organization',
      description: 'The number of concurrent runs has no limit: executors decide how many they take.',
    },
  },
);
