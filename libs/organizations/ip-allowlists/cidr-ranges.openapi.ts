import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { IP_ALLOWLISTS } from './cidr-range-lists.openapi.js';
import { CidrRangesController } from './cidr-ranges.controller.js';
import { createRangeBody, updateRangeBody } from './ip-allowlists.body.js';

const LOCK_OUT = 'The enabled ranges would exclude the address of the caller.';

export const cidrRangesOperations = describeController(CidrRangesController, IP_ALLOWLISTS, {
  list: {
    operationId: 'listCidrRanges',
    summary: 'List the ranges of an IP allowlist',
    query: pageParameters(),
    answer: describePage('CidrRange'),
  },
  create: {
    operationId: 'createCidrRange',
    summary: 'Add a range to an IP allowlist',
    description: 'A range is enabled unless `enabled` is false.',
    body: describeBody(createRangeBody, {
      data: { type: 'cidr-ranges', attributes: { range: '2001:db8::/32', description: 'VPN', enabled: true } },
    }),
    answer: describeDocument('CidrRange'),
    refusals: {
      unprocessable: `The range is invalid or in the list already, or the list has 100 ranges. ${LOCK_OUT}`,
    },
    events: ['IpAllowlistRangeAdded'],
  },
  show: {
    operationId: 'getCidrRange',
    summary: 'Show a range of an IP allowlist',
    answer: describeDocument('CidrRange'),
  },
  update: {
    operationId: 'updateCidrRange',
    summary: 'Change, enable or disable a range of an IP allowlist',
    body: describeBody(updateRangeBody, { data: { type: 'cidr-ranges', attributes: { enabled: false } } }),
    answer: describeDocument('CidrRange'),
    refusals: { unprocessable: `The range is invalid or in the list already. ${LOCK_OUT}` },
    events: ['IpAllowlistRangeUpdated'],
  },
  destroy: {
    operationId: 'deleteCidrRange',
    summary: 'Remove a range from an IP allowlist',
    answer: describeEmpty(),
    refusals: { unprocessable: LOCK_OUT },
    events: ['IpAllowlistRangeRemoved'],
  },
});
