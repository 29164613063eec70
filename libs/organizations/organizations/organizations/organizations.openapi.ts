import { z } from 'zod';
import {
  absentIfSelfHosted,
  always,
  defineResource,
  describeController,
  describeResourceBody,
  describeSettings,
  exampleText,
  parameter,
  permissionFlags,
  related,
  timestamp,
} from '#api/json-api/description';
import { ORGANIZATION_SETTINGS } from './organization-settings.js';
import { FEATURE_SETS } from './organization.js';
import { createBody, updateBody, ORGANIZATION_INCLUDES, OrganizationsController } from './organizations.controller.js';
import { PERMISSION_KEYS, UNSUPPORTED_PERMISSIONS } from './organizations.document.js';

export const organizationSchema = defineResource({
  name: 'Organization',
  type: 'organizations',
  description: 'An organization with its settings. Its id is its name; `external-id` never changes.',
  exampleId: 'acme',
  attributes: {
    name: exampleText('acme'),
    'external-id': exampleText('org-2vNk6TbYx8RzQw4C'),
    email: exampleText('ops@acme.test'),
    'created-at': timestamp(),
    ...describeSettings(ORGANIZATION_SETTINGS.shape, [
      'accessBetaTools',
      'applyTimeout',
      'defaultAgentPool',
      'planTimeout',
    ]),
    'assessments-enforced': absentIfSelfHosted(z.boolean()),
    'session-timeout': z
      .int()
      .nullable()
      .meta({ description: 'In minutes.', examples: [null] }),
    'session-remember': z
      .int()
      .nullable()
      .meta({ description: 'In minutes.', examples: [null] }),
    'is-unified': always(false),
    'saml-enabled': always(false),
    'two-factor-conformant': always(true),
    'plan-expired': always(false),
    'plan-expires-at': always(null),
    'plan-is-trial': always(false),
    'plan-is-enterprise': always(true),
    'plan-identifier': z.enum(FEATURE_SETS).meta({ description: 'The feature set.' }),
    'trial-expires-at': always(null),
    'remaining-testable-count': always(0),
    permissions: permissionFlags(
      ...Object.keys(PERMISSION_KEYS),
      'can-manage-public-providers',
      ...UNSUPPORTED_PERMISSIONS,
    ),
  },
  relationships: {
    'authentication-token': related.link(),
    'entitlement-set': related.always('entitlement-sets'),
    'default-project': related
      .always('projects')
      .partial({ data: true })
      .meta({ description: 'Only a link if the document of a workspace includes the organization and the project.' }),
    'default-agent-pool': related.one('agent-pools'),
    'data-retention-policy': related.one('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes'),
    'owners-team': related.always('teams'),
    subscription: related.link(),
  },
  hasSelfLink: true,
});

export const ORGANIZATIONS = {
  name: 'Organizations',
  description: 'Organizations with their settings, feature sets and limits for tokens.',
};

const group = {
  ...ORGANIZATIONS,
  resource: organizationSchema,
  include: { values: ORGANIZATION_INCLUDES, resources: ['EntitlementSet', 'Project', 'Subscription'] },
};

export const organizationsOperations = describeController(OrganizationsController, group, {
  list: {
    summary: 'List the organizations of the caller',
    query: {
      q: parameter.text('Only organizations with this text in their name or address, ignoring case.'),
      'q[name]': parameter.text('Only organizations with this text in their name. Without effect beside `q`.'),
      'q[email]': parameter.text('Only organizations with this text in their address. Without effect beside `q`.'),
    },
  },
  create: {
    description: 'The server also creates the default project and the owners team. The caller becomes its first owner.',
    body: describeResourceBody(createBody, { name: 'acme', email: 'ops@acme.test' }),
    refusals: {
      forbidden: 'Only administrators of the site may create organizations (`CADASTRE_ORGANIZATION_CREATORS`).',
      unprocessable:
        'An attribute is not valid, an organization has the name, or the caller owns the largest number of organizations.',
    },
  },
  show: {},
  update: {
    summary: 'Change or rename an organization',
    body: describeResourceBody(updateBody, { email: 'ops@acme.test', 'default-execution-mode': 'local' }),
    refusals: { unprocessable: 'An attribute is not valid, or another organization has the name.' },
    events: ['OrganizationUpdated'],
  },
  destroy: {
    description: 'The server deletes the projects, workspaces, states, teams and tokens of the organization too.',
  },
});
