import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { createBody, updateBody } from './organizations.body.js';
import { ORGANIZATION_INCLUDES, OrganizationsController } from './organizations.controller.js';

export const ORGANIZATIONS = {
  name: 'Organizations',
  description: 'Organizations with their settings, feature sets and limits for tokens.',
};

/** Names of the resources that `include` can add. */
const included = ['EntitlementSet', 'Project', 'Subscription'];

export const organizationsOperations = describeController(OrganizationsController, ORGANIZATIONS, {
  list: {
    operationId: 'listOrganizations',
    summary: 'List the organizations of the caller',
    query: {
      ...pageParameters(),
      ...includeParameter(ORGANIZATION_INCLUDES),
      q: textParameter('Only organizations with this text in their name or address, ignoring case.'),
      'q[name]': textParameter('Only organizations with this text in their name. Without effect beside `q`.'),
      'q[email]': textParameter('Only organizations with this text in their address. Without effect beside `q`.'),
    },
    answer: describePage('Organization', { included }),
  },
  create: {
    operationId: 'createOrganization',
    summary: 'Create an organization',
    description: 'The server also creates the default project and the owners team. The caller becomes its first owner.',
    body: describeBody(createBody, {
      data: { type: 'organizations', attributes: { name: 'acme', email: 'ops@acme.test' } },
    }),
    answer: describeDocument('Organization'),
    refusals: {
      forbidden: 'Only administrators of the site may create organizations (`CADASTRE_ORGANIZATION_CREATORS`).',
      unprocessable:
        'An attribute is not valid, an organization has the name, or the caller owns the largest number of organizations.',
    },
  },
  show: {
    operationId: 'getOrganization',
    summary: 'Show an organization',
    query: includeParameter(ORGANIZATION_INCLUDES),
    answer: describeDocument('Organization', { included }),
  },
  update: {
    operationId: 'updateOrganization',
    summary: 'Change or rename an organization',
    body: describeBody(updateBody, {
      data: { type: 'organizations', attributes: { email: 'ops@acme.test', 'default-execution-mode': 'local' } },
    }),
    answer: describeDocument('Organization'),
    refusals: { unprocessable: 'An attribute is not valid, or another organization has the name.' },
    events: ['OrganizationUpdated'],
  },
  destroy: {
    operationId: 'deleteOrganization',
    summary: 'Delete an organization',
    description: 'The server deletes the projects, workspaces, states, teams and tokens of the organization too.',
    answer: describeEmpty(),
  },
});
