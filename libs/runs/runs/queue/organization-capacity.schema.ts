import { count, defineResource } from '#api/json-api/description';

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
