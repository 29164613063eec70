import { z } from 'zod';
import {
  defineResource,
  exampleText,
  relatedAlways,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { ENFORCEMENT_SCOPES } from './ip-allowlist.js';

export const cidrRangeListSchema = defineResource({
  name: 'CidrRangeList',
  type: 'cidr-range-lists',
  description:
    'An IP allowlist: address ranges from which an organization accepts requests. A list without an enabled range restricts nothing.',
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
    organization: relatedAlways('organizations'),
    'cidr-ranges': relatedMany('cidr-ranges'),
    'agent-pools': relatedMany('agent-pools'),
  },
  links: { self: serverPath('/api/v2/cidr-range-lists/crl-8kVx2QnRt5YwZc3L') },
});

export const cidrRangeSchema = defineResource({
  name: 'CidrRange',
  type: 'cidr-ranges',
  description: 'A range of an IP allowlist.',
  exampleId: 'cidr-3hRwZx7QnVt5YkLc',
  attributes: {
    range: exampleText('203.0.113.0/24', 'An IPv4 or IPv6 range. IPv6 ranges contain no IPv4 addresses.'),
    description: z.string().nullable().meta({ example: 'Office in Berlin' }),
    enabled: z.boolean().meta({ description: 'Whether the range admits its addresses.' }),
    'updated-at': timestamp(),
  },
  links: { self: serverPath('/api/v2/cidr-ranges/cidr-3hRwZx7QnVt5YkLc') },
});
