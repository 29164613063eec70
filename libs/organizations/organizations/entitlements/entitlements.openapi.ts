import {
  describeBody,
  describeController,
  describeDocument,
  describePage,
  pageParameters,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import { EntitlementSetsController } from './entitlement-sets.controller.js';
import { FeatureSetsController } from './feature-sets.controller.js';
import { body, SubscriptionsController } from './subscriptions.controller.js';

export const entitlementSetsOperations = describeController(EntitlementSetsController, ORGANIZATIONS, {
  show: {
    operationId: 'getEntitlementSet',
    summary: 'Show what the feature set of an organization contains',
    answer: describeDocument('EntitlementSet'),
  },
});

const list = {
  query: {
    ...pageParameters(),
    q: textParameter('Only feature sets with this text in their name or identifier, ignoring case.'),
  },
  answer: describePage('FeatureSet'),
} satisfies Partial<OperationDescription>;

export const featureSetsOperations = describeController(FeatureSetsController, ORGANIZATIONS, {
  list: { ...list, operationId: 'listFeatureSets', summary: 'List the feature sets' },
  listOfOrganization: {
    ...list,
    operationId: 'listOrganizationFeatureSets',
    summary: 'List the feature sets that an organization can have',
  },
  listOfSite: { ...list, operationId: 'listSiteFeatureSets', summary: 'List the feature sets as a site administrator' },
});

const answer = describeDocument('Subscription', { included: ['FeatureSet'] });

export const subscriptionsOperations = describeController(SubscriptionsController, ORGANIZATIONS, {
  show: { operationId: 'getSubscription', summary: 'Show the feature set of an organization', answer },
  change: {
    operationId: 'changeSubscription',
    summary: 'Change the feature set of an organization',
    body: describeBody(body, {
      data: {
        type: 'subscriptions',
        relationships: { 'feature-set': { data: { id: 'fs-free' } } },
      },
    }),
    answer,
    events: ['OrganizationFeatureSetChanged'],
  },
});
