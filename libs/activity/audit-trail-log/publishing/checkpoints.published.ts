import { hash } from 'node:crypto';
import { parseCheckpoint, splitNote } from '#packages/trail-verifier';
import { toTopicName, type CloudEventSource, type OutboundMessage } from '#storage/message-log';
import { SITE_LOG } from '../tiles/hashes.js';

/** The topic of checkpoints, without its prefix. */
export const CHECKPOINTS_TOPIC = 'audit-trail-checkpoints';

/** The `ce_type` of its messages. */
export const CHECKPOINT_TYPE = 'cadastre.audit-trail-checkpoint.v1';

/** A checkpoint as it is stored. */
export type SignedCheckpoint = {
  readonly organization: string;
  readonly note: string;
  readonly signedAt: string;
};

/**
 * Returns the message of a checkpoint. The id derives from the text that was signed, so that a repeated message has the same
 * id, and another history of the same size another one.
 */
export const toCheckpointMessage = (
  { organization, note, signedAt }: SignedCheckpoint,
  { source, prefix }: Pick<CloudEventSource, 'source' | 'prefix'>,
): OutboundMessage => {
  const { text } = splitNote(note);
  const { origin, size, root } = parseCheckpoint(text);
  const time = new Date(signedAt);
  return {
    topic: toTopicName({ topic: CHECKPOINTS_TOPIC }, prefix),
    key: organization,
    value: JSON.stringify({ origin, size, root: root.toString('base64'), checkpoint: note }),
    headers: {
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: hash('sha256', text, 'hex').slice(0, 32),
      ce_type: CHECKPOINT_TYPE,
      ce_source: source,
      ce_subject: origin,
      ce_time: time.toISOString(),
      ...(organization === SITE_LOG ? {} : { ce_organization: organization }),
    },
    timestamp: String(time.getTime()),
  };
};
