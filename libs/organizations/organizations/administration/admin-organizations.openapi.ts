import {
  describeBody,
  describeController,
  describeDocument,
  describePage,
  includeParameter,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import { adminUpdateBody } from './admin-organizations.body.js';
import { ADMIN_ORGANIZATION_INCLUDES, AdminOrganizationsController } from './admin-organizations.controller.js';

const included = ['User'];

export const adminOrganizationsOperations = describeController(AdminOrganizationsController, ORGANIZATIONS, {
  list: {
    operationId: 'listSiteOrganizations',
    summary: 'List all organizations as a site administrator',
    query: {
      ...pageParameters(),
      ...includeParameter(ADMIN_ORGANIZATION_INCLUDES),
      q: textParameter('Only organizations with this text in their name or address, ignoring case.'),
    },
    answer: describePage('AdministeredOrganization', { included }),
  },
  show: {
    operationId: 'getSiteOrganization',
    summary: 'Show an organization as a site administrator',
    query: includeParameter(ADMIN_ORGANIZATION_INCLUDES),
    answer: describeDocument('AdministeredOrganization', { included }),
  },
  update: {
    operationId: 'updateSiteOrganization',
    summary: 'Change an organization as a site administrator',
    body: describeBody(adminUpdateBody, {
      data: { type: 'organizations', attributes: { 'access-beta-tools': true } },
    }),
    answer: describeDocument('AdministeredOrganization'),
    events: ['OrganizationUpdated'],
  },
});
