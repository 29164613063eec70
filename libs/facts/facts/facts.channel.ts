import type { InboundChannel } from '#message-log';
import { factSchemas } from './facts.body.js';
import { FACT_TYPE, FACTS_TOPIC } from './facts.message-handler.js';

const text = (description: string) => ({ type: 'string', description });

/** The data of a fact: what is no attribute of the event. */
const describeData = (schema: (typeof factSchemas)[string] = {}) => {
  const { auth, request, resource } = schema['properties'] as Readonly<Record<string, unknown>>;
  return {
    title: schema['title'],
    type: 'object',
    properties: { auth, request, resource },
    required: ['auth', 'resource'],
  };
};

/** The topic that facts come in by, for the AsyncAPI document. */
export const factsChannel: InboundChannel = {
  topic: FACTS_TOPIC,
  type: FACT_TYPE,
  description:
    'Facts of other services for audit trails, as CloudEvents 1.0 in binary or structured content mode. What is none ' +
    'goes to the topic of this name with `.rejected` after it, as it came, with the headers `rejected_reason`, ' +
    '`rejected_topic`, `rejected_partition` and `rejected_offset`.',
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
      ce_id: text('The name of the fact there.'),
      ce_time: { type: 'string', format: 'date-time', description: 'When it happened; else when the broker had it.' },
      ce_organization: text('Whose trail it is for: the name or the id of an organization.'),
    },
  },
  payload: { oneOf: Object.values(factSchemas).map(describeData) },
};
