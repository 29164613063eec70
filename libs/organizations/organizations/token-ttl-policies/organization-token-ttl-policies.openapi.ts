import {
  describeBody,
  describeController,
  describeList,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { ORGANIZATIONS } from '../organizations/organizations.openapi.js';
import { OrganizationTokenTtlPoliciesController } from './organization-token-ttl-policies.controller.js';
import { policiesBody } from './token-ttl-policies.body.js';

export const organizationTokenTtlPoliciesOperations = describeController(
  OrganizationTokenTtlPoliciesController,
  ORGANIZATIONS,
  {
    list: {
      operationId: 'listTokenTtlPolicies',
      summary: 'List the longest lifetimes of the tokens of an organization',
      query: pageParameters(),
      answer: describePage('OrganizationTokenTtlPolicy'),
    },
    update: {
      operationId: 'updateTokenTtlPolicies',
      summary: 'Change the longest lifetimes of the tokens of an organization',
      description: 'Types of tokens that the body does not have stay unchanged. The answer lists all types.',
      body: describeBody(policiesBody, {
        data: {
          type: 'organization-token-ttl-policies',
          attributes: { 'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 2_592_000_000 }] },
        },
      }),
      answer: describeList('OrganizationTokenTtlPolicy'),
      events: ['OrganizationTokenTtlPoliciesChanged'],
    },
  },
);
