import { z } from 'zod';
import {
  always,
  defineResource,
  describeBody,
  describeController,
  exampleText,
  parameter,
  related,
  serverPath,
} from '#api/json-api/description';
import { FEATURE_SETS } from '../organizations/organization.js';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import { EntitlementSetsController } from './entitlement-sets.controller.js';
import { ENTITLEMENTS } from './entitlements.js';
import { FeatureSetsController } from './feature-sets.controller.js';
import { body, SubscriptionsController } from './subscriptions.controller.js';

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
  relationships: { organization: related.always('organizations'), 'feature-set': related.always('feature-sets') },
});

const ENTITLEMENT_SETS = { ...ORGANIZATIONS, resource: entitlementSetSchema };

export const entitlementSetsOperations = describeController(EntitlementSetsController, ENTITLEMENT_SETS, {
  show: { summary: 'Show what the feature set of an organization contains' },
});

const list = {
  query: { q: parameter.text('Only feature sets with this text in their name or identifier, ignoring case.') },
};

const FEATURE_SET_GROUP = { ...ORGANIZATIONS, resource: featureSetSchema };

export const featureSetsOperations = describeController(FeatureSetsController, FEATURE_SET_GROUP, {
  list,
  listOfOrganization: { ...list, summary: 'List the feature sets that an organization can have' },
  listOfSite: { ...list, summary: 'List the feature sets as a site administrator' },
});

// The documents always include the feature set.
const include = { values: [], resources: ['FeatureSet'] };

const SUBSCRIPTIONS = { ...ORGANIZATIONS, resource: subscriptionSchema, include };

export const subscriptionsOperations = describeController(SubscriptionsController, SUBSCRIPTIONS, {
  show: { summary: 'Show the feature set of an organization' },
  change: {
    summary: 'Change the feature set of an organization',
    include,
    body: describeBody(body, {
      data: { type: 'subscriptions', relationships: { 'feature-set': { data: { id: 'fs-free' } } } },
    }),
    events: ['OrganizationFeatureSetChanged'],
  },
});
