import type { OutboundChannel } from '#storage/message-log';
import { CHECKPOINT_TYPE, CHECKPOINTS_TOPIC } from './checkpoints.published.js';

const text = (description: string) => ({ type: 'string', description });

/** Describes the topic of checkpoints for the AsyncAPI document. */
export const checkpointsChannel: OutboundChannel = {
  topic: CHECKPOINTS_TOPIC,
  type: CHECKPOINT_TYPE,
  key: 'Id of the organization, or `site` for the log of the site.',
  description:
    'Each signed checkpoint of the logs that prove audit trails, as CloudEvents 1.0 in binary content mode, whatever ' +
    '`KAFKA_CLOUD_EVENTS` says. Delivered at least once, and in the order of each log. A reader that keeps them can ' +
    'prove that a log was rolled back or forked.',
  headers: {
    type: 'object',
    required: ['content-type', 'ce_specversion', 'ce_id', 'ce_type', 'ce_source', 'ce_subject', 'ce_time'],
    properties: {
      'content-type': { const: 'application/json' },
      ce_specversion: { const: '1.0' },
      ce_id: {
        type: 'string',
        pattern: '^[0-9a-f]{32}$',
        description: 'Derived from origin, size and root. Redelivery repeats it.',
      },
      ce_type: { const: CHECKPOINT_TYPE },
      ce_source: { type: 'string', format: 'uri-reference', description: 'Public URL of the site.' },
      ce_subject: text('Origin of the log.'),
      ce_time: { type: 'string', format: 'date-time', description: 'When the checkpoint was signed.' },
      ce_organization: text('Id of the organization. Absent for the log of the site.'),
    },
  },
  payload: {
    type: 'object',
    required: ['origin', 'size', 'root', 'checkpoint'],
    properties: {
      origin: text('Origin of the log.'),
      size: { type: 'integer', minimum: 0, description: 'Number of entries of the log.' },
      root: text('Root of the Merkle tree of these entries, in base64.'),
      checkpoint: text('The signed note (C2SP tlog-checkpoint), with which programs verify the other members.'),
    },
  },
};
