import { z } from 'zod';
import {
  always,
  defineResource,
  describeBody,
  describeController,
  describePage,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  serverPath,
} from '#api/json-api/description';
import { ORGANIZATION_SETTINGS } from '../organizations/organization-settings.js';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import {
  adminUpdateBody,
  ADMIN_ORGANIZATION_INCLUDES,
  moduleConsumersBody,
  AdminOrganizationsController,
} from './admin-organizations.controller.js';

const OLD_NAME = 'The same value by its name in earlier releases of Terraform Enterprise.';

export const administeredOrganizationSchema = defineResource({
  name: 'AdministeredOrganization',
  type: 'organizations',
  description: 'An organization as site administrators see it. Its id is its name; `external-id` never changes.',
  noun: 'organization',
  exampleId: 'acme',
  attributes: {
    name: exampleText('acme'),
    'external-id': exampleText('org-2vNk6TbYx8RzQw4C'),
    'notification-email': exampleText('ops@acme.test'),
    'access-beta-tools': ORGANIZATION_SETTINGS.shape.accessBetaTools,
    'global-module-sharing': ORGANIZATION_SETTINGS.shape.globalModuleSharing,
    'global-provider-sharing': always(false),
    'is-disabled': always(false),
    'sso-enabled': z.boolean().meta({ description: 'Whether people must sign in with an identity provider.' }),
    'workspace-limit': always(null),
    'plan-timeout': exampleText('2h', 'The longest time of a plan; null: that of the site.').nullable(),
    'apply-timeout': exampleText('24h', 'The longest time of an apply; null: that of the site.').nullable(),
    'terraform-build-worker-plan-timeout': exampleText('2h', OLD_NAME).nullable(),
    'terraform-build-worker-apply-timeout': exampleText('24h', OLD_NAME).nullable(),
    'terraform-worker-sudo-enabled': always(false),
  },
  relationships: {
    owners: related.many('users').meta({ description: 'The active members of the owners team.' }),
    subscription: related.always('subscriptions'),
    'feature-set': related.always('feature-sets'),
    'module-consumers': related.link(),
  },
  links: { self: serverPath('/api/v2/admin/organizations/acme') },
});

const group = {
  ...ORGANIZATIONS,
  resource: administeredOrganizationSchema,
  idName: 'SiteOrganization',
  include: { values: ADMIN_ORGANIZATION_INCLUDES, resources: ['User'] },
};

export const adminOrganizationsOperations = describeController(AdminOrganizationsController, group, {
  list: {
    summary: 'List all organizations as a site administrator',
    query: { q: parameter.text('Only organizations with this text in their name or address, ignoring case.') },
  },
  show: { summary: 'Show an organization as a site administrator' },
  update: {
    summary: 'Change an organization as a site administrator',
    body: describeResourceBody(adminUpdateBody, { 'access-beta-tools': true }),
    events: ['OrganizationUpdated'],
  },
  listModuleConsumers: {
    operationId: 'listModuleConsumers',
    summary: 'List the organizations that may use the modules of an organization',
    description: 'The list is empty, because the registry has no modules.',
    answer: describePage('AdministeredOrganization'),
  },
  replaceModuleConsumers: {
    operationId: 'replaceModuleConsumers',
    summary: 'Replace the organizations that may use the modules of an organization',
    body: describeBody(moduleConsumersBody, { data: [] }),
    refusals: { unprocessable: 'The list has an organization. The registry has no modules that it could use.' },
  },
  destroy: {
    summary: 'Delete any organization as a site administrator',
    description: 'With everything in it, as if an owner deletes it. Nobody can recover it.',
    events: ['OrganizationDeleted'],
  },
});
