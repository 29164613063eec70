import { describe, expect, it } from '@jest/globals';
import { quiet } from '../../../../test/support/silent-logger.js';
import { createKafkaClient } from './kafka-connection.js';
import { findOutageReason } from './kafka-outage.js';

describe('findOutageReason', () => {
  it('returns the reason if no broker responds', async () => {
    // Nothing listens on the discard port.
    const admin = createKafkaClient({ brokers: ['127.0.0.1:9'], clientId: 'test' }, quiet).admin();
    const error: unknown = await admin.connect().catch((failure: unknown) => failure);
    await admin.disconnect();
    expect(findOutageReason(error)).toContain('ECONNREFUSED');
    expect(findOutageReason(new Error('Kafka did not accept the events', { cause: error }))).toContain('ECONNREFUSED');
  });

  it('returns null for other errors', () => {
    expect(findOutageReason(new Error('the topic is missing'))).toBeNull();
    expect(findOutageReason('refused')).toBeNull();
  });
});
