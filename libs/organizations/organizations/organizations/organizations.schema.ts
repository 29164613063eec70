import { z } from 'zod';
import {
  absentIfSelfHosted,
  always,
  defineResource,
  describeSettings,
  exampleText,
  permissionFlags,
  relatedAlways,
  relatedLink,
  relatedOne,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { FEATURE_SETS } from './organization.js';
import { ORGANIZATION_SETTINGS } from './organization-settings.js';
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
    ...describeSettings(ORGANIZATION_SETTINGS.shape, ['accessBetaTools', 'defaultAgentPool']),
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
    'authentication-token': relatedLink(),
    'entitlement-set': relatedAlways('entitlement-sets'),
    'default-project': relatedAlways('projects')
      .partial({ data: true })
      .meta({ description: 'Only a link if the document of a workspace includes the organization and the project.' }),
    'default-agent-pool': relatedOne('agent-pools'),
    'data-retention-policy': relatedOne('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes'),
    'owners-team': relatedAlways('teams'),
    subscription: relatedLink(),
  },
  links: { self: serverPath('/api/v2/organizations/acme') },
});
