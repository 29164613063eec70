import { z } from 'zod';
import { always, defineResource, exampleText, relatedAlways, serverPath } from '#api/json-api/description';
import { ENTITLEMENTS } from './entitlements.js';
import { FEATURE_SETS } from '../organizations/organization.js';

/** An entitlement that no feature set has belongs to a feature that is not built. */
const entitlements = Object.fromEntries(
  Object.entries(ENTITLEMENTS.everything).map(([name, value]) => [
    name,
    value === true ? z.boolean().meta({ examples: [true] }) : always(value),
  ]),
);

export const entitlementSetSchema = defineResource({
  name: 'EntitlementSet',
  type: 'entitlement-sets',
  description: 'What the feature set of an organization contains. It has the stable id of the organization.',
  exampleId: 'org-2vNk6TbYx8RzQw4C',
  attributes: entitlements,
  links: { self: serverPath('/api/v2/organizations/acme/entitlement-set') },
});

export const featureSetSchema = defineResource({
  name: 'FeatureSet',
  type: 'feature-sets',
  description: 'A set of features that an organization can have.',
  exampleId: 'fs-everything',
  attributes: {
    name: exampleText('Everything'),
    identifier: z.enum(FEATURE_SETS),
    'is-current': always(true),
    'is-free-tier': z.boolean(),
    'comparison-description': always(null),
    cost: always(0),
    description: exampleText('Everything that Cadastre has'),
    plan: always(null),
    ...entitlements,
  },
});

export const subscriptionSchema = defineResource({
  name: 'Subscription',
  type: 'subscriptions',
  description: 'The feature set of an organization.',
  exampleId: 'sub-2vNk6TbYx8RzQw4C',
  attributes: {
    'is-active': always(true),
    'end-at': always(null),
    'runs-ceiling': always(null),
    'agents-ceiling': always(null),
  },
  relationships: { organization: relatedAlways('organizations'), 'feature-set': relatedAlways('feature-sets') },
});
