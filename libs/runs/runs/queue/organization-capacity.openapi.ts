import { describeController, describeDocument } from '#api/json-api/description';
import { RUNS } from '../runs/runs.openapi.js';
import { OrganizationCapacityController } from './organization-capacity.controller.js';

export const organizationCapacityOperations = describeController(OrganizationCapacityController, RUNS, {
  show: {
    operationId: 'getOrganizationCapacity',
    summary: 'Count the waiting and running runs of an organization',
    description: 'The number of concurrent runs has no limit: executors decide how many they take.',
    answer: describeDocument('OrganizationCapacity'),
  },
});
