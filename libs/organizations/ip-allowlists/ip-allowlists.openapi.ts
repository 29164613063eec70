import { z } from 'zod';
import {
  defineResource,
  describeBody,
  describeController,
  describePage,
  describeResourceBody,
  exampleText,
  pageParameters,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { CidrRangeListsController } from './cidr-range-lists.controller.js';
import { CidrRangesController } from './cidr-ranges.controller.js';
import { ENFORCEMENT_SCOPES } from './ip-allowlist.js';
import { agentPoolsBody, createBody, createRangeBody, updateBody, updateRangeBody } from './ip-allowlists.body.js';

export const cidrRangeListSchema = defineResource({
  name: 'CidrRangeList',
  type: 'cidr-range-lists',
  description:
    'An IP allowlist: address ranges from which an organization accepts requests. A list without an enabled range restricts nothing.',
  noun: 'IP allowlist',
  exampleId: 'crl-8kVx2QnRt5YwZc3L',
  attributes: {
    name: exampleText('Office network'),
    description: z.string().nullable().meta({ example: 'Offices and VPN' }),
    'enforcement-scope': z.enum(ENFORCEMENT_SCOPES).meta({
      description:
        'The requests that the list restricts. `organization`: all but those of agents and runs. `all_agent_pools`: those of all agents and their runs. `selected_agent_pools`: those of the agents of the assigned pools and their runs.',
    }),
    'updated-at': timestamp(),
  },
  relationships: {
    organization: related.always('organizations'),
    'cidr-ranges': related.many('cidr-ranges'),
    'agent-pools': related.many('agent-pools'),
  },
  hasSelfLink: true,
});

export const cidrRangeSchema = defineResource({
  name: 'CidrRange',
  type: 'cidr-ranges',
  description: 'A range of an IP allowlist.',
  noun: 'range of an IP allowlist',
  exampleId: 'cidr-3hRwZx7QnVt5YkLc',
  attributes: {
    range: exampleText('203.0.113.0/24', 'An IPv4 or IPv6 range. IPv6 ranges contain no IPv4 addresses.'),
    description: z.string().nullable().meta({ example: 'Office in Berlin' }),
    enabled: z.boolean().meta({ description: 'Whether the range admits its addresses.' }),
    'updated-at': timestamp(),
  },
  hasSelfLink: true,
});

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

export const cidrRangeListsOperations = describeController(
  CidrRangeListsController,
  { ...IP_ALLOWLISTS, resource: cidrRangeListSchema },
  {
    list: {
      description: 'The member `client-address` of `meta` is the address of the caller, as the server sees it.',
      query: { ...pageParameters(), q: parameter.text('Only lists whose names contain this text.') },
      answer: describePage('CidrRangeList', { meta: { 'client-address': exampleText('203.0.113.7').nullable() } }),
    },
    create: {
      body: describeResourceBody(
        createBody,
        { name: 'Office network', 'enforcement-scope': 'organization' },
        {
          'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: { range: '203.0.113.0/24' } }] },
        },
      ),
      refusals,
    },
    show: {},
    update: {
      summary: 'Change the name, description or scope of an IP allowlist',
      description: 'Another scope than `selected_agent_pools` removes the assigned agent pools.',
      body: describeResourceBody(updateBody, { name: 'Offices' }),
      refusals,
      events: ['IpAllowlistUpdated'],
    },
    destroy: { summary: 'Delete an IP allowlist with its ranges' },
    assignAgentPools: {
      operationId: 'addAgentPoolsToCidrRangeList',
      summary: 'Assign agent pools to an IP allowlist',
      body: describeBody(agentPoolsBody, POOLS),
      refusals: poolRefusals,
      events: ['IpAllowlistAgentPoolsAdded'],
    },
    unassignAgentPools: {
      operationId: 'removeAgentPoolsFromCidrRangeList',
      summary: 'Remove agent pools from an IP allowlist',
      body: describeBody(agentPoolsBody, POOLS),
      events: ['IpAllowlistAgentPoolsRemoved'],
    },
  },
);

const LOCK_OUT = 'The enabled ranges would exclude the address of the caller.';

export const cidrRangesOperations = describeController(
  CidrRangesController,
  { ...IP_ALLOWLISTS, resource: cidrRangeSchema },
  {
    list: {},
    create: {
      summary: 'Add a range to an IP allowlist',
      description: 'A range is enabled unless `enabled` is false.',
      body: describeResourceBody(createRangeBody, { range: '2001:db8::/32', description: 'VPN', enabled: true }),
      refusals: {
        unprocessable: `The range is invalid or in the list already, or the list has 100 ranges. ${LOCK_OUT}`,
      },
      events: ['IpAllowlistRangeAdded'],
    },
    show: {},
    update: {
      summary: 'Change, enable or disable a range of an IP allowlist',
      body: describeResourceBody(updateRangeBody, { enabled: false }),
      refusals: { unprocessable: `The range is invalid or in the list already. ${LOCK_OUT}` },
      events: ['IpAllowlistRangeUpdated'],
    },
    destroy: {
      summary: 'Remove a range from an IP allowlist',
      refusals: { unprocessable: LOCK_OUT },
      events: ['IpAllowlistRangeRemoved'],
    },
  },
);
