import { z } from 'zod';
import { always, defineResource, exampleText, relatedAlways, relatedMany, serverPath } from '#api/json-api/description';
import { ORGANIZATION_SETTINGS } from '../organizations/organization-settings.js';

export const administeredOrganizationSchema = defineResource({
  name: 'AdministeredOrganization',
  type: 'organizations',
  description: 'An organization as site administrators see it. Its id is its name; `external-id` never changes.',
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
    'plan-timeout': always(null),
    'apply-timeout': always(null),
    'terraform-build-worker-plan-timeout': always(null),
    'terraform-build-worker-apply-timeout': always(null),
    'terraform-worker-sudo-enabled': always(false),
  },
  relationships: {
    owners: relatedMany('users').meta({ description: 'The active members of the owners team.' }),
    subscription: relatedAlways('subscriptions'),
    'feature-set': relatedAlways('feature-sets'),
  },
  links: { self: serverPath('/api/v2/admin/organizations/acme') },
});
