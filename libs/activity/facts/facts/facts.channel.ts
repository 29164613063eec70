import type { InboundChannel } from '#storage/message-log';
import { factSchemas } from './facts.body.js';
import { FACT_TYPE, FACTS_TOPIC } from './facts.message-handler.js';

const text = (description: string) => ({ type: 'string', description });

/** Returns the schema of the data of a fact, without the fields that are attributes of the CloudEvent. */
const describeData = (schema: (typeof factSchemas)[string] = {}) => {
  const { auth, request, resource } = schema['properties'] as Readonly<Record<string, unknown>>;
  return {
    title: schema['title'],
    type: 'object',
    properties: { auth, request, resource },
    required: ['auth', 'resource'],
  };
};

/** Describes the topic of incoming facts for the AsyncAPI document. */
export const factsChannel: InboundChannel = {
  topic: FACTS_TOPIC,
  type: FACT_TYPE,
  description:
    'Facts of other services for audit trails, as CloudEvents 1.0 in binary or structured content mode. A message ' +
    'that is no valid fact goes unchanged to the topic of this name with the suffix `.rejected`, with the headers ' +
    '`rejected_reason`, `rejected_topic`, `rejected_partition` and `rejected_offset`.',
  headers: {
    type: 'object',
    required: ['ce_specversion', 'ce_type', 'ce_source', 'ce_id', 'ce_organization'],
    properties: {
      'content-type': { const: 'application/json' },
      ce_specversion: { const: '1.0' },
      ce_type: { const: FACT_TYPE },
      ce_source: text(
        'The service; its organization must have registered it (`audit-fact-sources`). With `ce_id` it identifies the ' +
          'fact: a fact that is recorded already is not recorded again.',
      ),
      ce_id: text('Id of the fact at the service.'),
      ce_time: {
        type: 'string',
        format: 'date-time',
        description: 'Time of the fact. Default: the time of the broker.',
      },
      ce_organization: text('Name or id of the organization whose audit trail records the fact.'),
      traceparent: text('Trace that the fact belongs to (W3C Trace Context).'),
    },
  },
  payload: { oneOf: Object.values(factSchemas).map(describeData) },
};
