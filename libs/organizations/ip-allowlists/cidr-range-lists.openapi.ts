import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  exampleText,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { CidrRangeListsController } from './cidr-range-lists.controller.js';
import { agentPoolsBody, createBody, updateBody } from './ip-allowlists.body.js';

export const IP_ALLOWLISTS = {
  name: 'IP allowlists',
  description:
    'Address ranges from which an organization accepts requests. From other addresses, its members get 403. Only owners read and change the lists.',
};

const refusals = {
  unprocessable:
    'The name is blank, too long or taken, a range is invalid or twice in the list, the organization has a list for the scope already, or the list would exclude the address of the caller.',
};
const poolRefusals = {
  unprocessable: 'The scope of the list is not `selected_agent_pools`, or the organization has no such agent pool.',
};
const POOLS = { data: [{ type: 'agent-pools', id: 'apool-7wXt4QnRk2YzVc8L' }] };

export const cidrRangeListsOperations = describeController(CidrRangeListsController, IP_ALLOWLISTS, {
  list: {
    operationId: 'listCidrRangeLists',
    summary: 'List the IP allowlists of an organization',
    description: 'The member `client-address` of `meta` is the address of the caller, as the server sees it.',
    query: { ...pageParameters(), q: textParameter('Only lists whose names contain this text.') },
    answer: describePage('CidrRangeList', { meta: { 'client-address': exampleText('203.0.113.7').nullable() } }),
  },
  create: {
    operationId: 'createCidrRangeList',
    summary: 'Create an IP allowlist',
    body: describeBody(createBody, {
      data: {
        type: 'cidr-range-lists',
        attributes: { name: 'Office network', 'enforcement-scope': 'organization' },
        relationships: {
          'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: { range: '203.0.113.0/24' } }] },
        },
      },
    }),
    answer: describeDocument('CidrRangeList'),
    refusals,
  },
  show: {
    operationId: 'getCidrRangeList',
    summary: 'Show an IP allowlist',
    answer: describeDocument('CidrRangeList'),
  },
  update: {
    operationId: 'updateCidrRangeList',
    summary: 'Change the name, description or scope of an IP allowlist',
    description: 'Another scope than `selected_agent_pools` removes the assigned agent pools.',
    body: describeBody(updateBody, {
      data: { type: 'cidr-range-lists', attributes: { name: 'Offices' } },
    }),
    answer: describeDocument('CidrRangeList'),
    refusals,
    events: ['IpAllowlistUpdated'],
  },
  destroy: {
    operationId: 'deleteCidrRangeList',
    summary: 'Delete an IP allowlist with its ranges',
    answer: describeEmpty(),
  },
  assignAgentPools: {
    operationId: 'addAgentPoolsToCidrRangeList',
    summary: 'Assign agent pools to an IP allowlist',
    body: describeBody(agentPoolsBody, POOLS),
    answer: describeEmpty(),
    refusals: poolRefusals,
    events: ['IpAllowlistAgentPoolsAdded'],
  },
  unassignAgentPools: {
    operationId: 'removeAgentPoolsFromCidrRangeList',
    summary: 'Remove agent pools from an IP allowlist',
    body: describeBody(agentPoolsBody, POOLS),
    answer: describeEmpty(),
    events: ['IpAllowlistAgentPoolsRemoved'],
  },
});
