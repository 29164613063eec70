import { z } from 'zod';
import {
  fromAttributes,
  identifiersBody,
  omitUndefined,
  resourceBody,
  typeSchema,
  unsupportedMember,
} from '#api/json-api';
import { ENFORCEMENT_SCOPES, MAX_RANGES, type AllowedRangeContent, type IpAllowlistContent } from './ip-allowlist.js';
import type { NewIpAllowlist } from './ip-allowlists.handler.js';

const LISTS = 'cidr-range-lists';
const RANGES = 'cidr-ranges';

const description = z.string().nullish();
const enforcementScope = z.enum(ENFORCEMENT_SCOPES);

const rangeAttributes = z.object({ range: z.string(), description, enabled: z.boolean().nullish() });

/** Clients send the ranges of a new list as complete resources without ids. */
const newRanges = z
  .object({
    'cidr-ranges': z
      .object({
        data: z
          .array(z.object({ type: typeSchema(RANGES), attributes: rangeAttributes }))
          .max(MAX_RANGES, { error: `too many, at most ${MAX_RANGES} of them` })
          .nullish(),
      })
      .nullish(),
    'agent-pools': unsupportedMember(
      'send agent pools to /api/v2/cidr-range-lists/ID/relationships/agent-pools of the new list',
    ),
  })
  .optional();

export const createBody = resourceBody(
  LISTS,
  z.object({
    name: z.string(),
    description,
    'enforcement-scope': enforcementScope,
    ranges: unsupportedMember('ranges of a new list are its relationship cidr-ranges'),
  }),
  newRanges,
);
export const updateBody = resourceBody(
  LISTS,
  z.object({ name: z.string().optional(), description, 'enforcement-scope': enforcementScope.optional() }).default({}),
);
export const createRangeBody = resourceBody(RANGES, rangeAttributes);
export const updateRangeBody = resourceBody(
  RANGES,
  z.object({ range: z.string().optional(), description, enabled: z.boolean().optional() }).default({}),
);
export const agentPoolsBody = identifiersBody('agent-pools');

/** A range is enabled by default. */
export const toRange = (attributes: z.infer<typeof rangeAttributes>): AllowedRangeContent => ({
  range: attributes.range,
  description: attributes.description ?? null,
  enabled: attributes.enabled ?? true,
});

export const toNewList = ({ data }: z.infer<typeof createBody>): NewIpAllowlist => ({
  name: data.attributes.name,
  description: data.attributes.description ?? null,
  enforcementScope: data.attributes['enforcement-scope'],
  ranges: (data.relationships?.['cidr-ranges']?.data ?? []).map(({ attributes }) => toRange(attributes)),
});

export const toListChanges = ({ data }: z.infer<typeof updateBody>): Partial<IpAllowlistContent> =>
  omitUndefined(fromAttributes(data.attributes));

export const toRangeChanges = ({ data }: z.infer<typeof updateRangeBody>): Partial<AllowedRangeContent> =>
  omitUndefined(data.attributes);
