import { describe, expect, it } from '@jest/globals';
import type { EventKind, RecordedEvent } from '#kernel';
import { toKafkaMessage } from '#message-log';
import { createRecordedEvent, sampleEventKinds } from '../../test/support/kafka/sample-events.js';
import { decodeEvent, UnreadableRecordError, type TopicRecord } from './cloud-event.js';

const locked: RecordedEvent = {
  ...createRecordedEvent(5_000_000_000, 'ws-1', 2),
  type: 'WorkspaceLocked',
  data: { holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: 'an audit' },
};

const publish = (mode: 'binary' | 'structured', event = locked): TopicRecord => {
  // The kind decides only the topic.
  const kind = sampleEventKinds['LampLit'] as EventKind<never>;
  const message = toKafkaMessage(event, kind, { source: 'https://cadastre.example.com', prefix: 'cadastre', mode });
  return { key: Buffer.from(message.key), value: Buffer.from(message.value), headers: message.headers };
};

describe('decoding a record', () => {
  it.each(['binary', 'structured'] as const)('returns the event that was published in %s mode', (mode) => {
    expect(decodeEvent(publish(mode))).toEqual({
      id: locked.id,
      type: 'WorkspaceLocked',
      schemaVersion: 1,
      source: 'https://cadastre.example.com',
      stream: 'ws-1',
      version: 2,
      position: 5_000_000_000n,
      time: new Date(locked.time),
      organization: locked.organization,
      caller: { kind: 'user', id: 'user-7hGt3KmPq9RsVw2X', impersonator: null },
      data: locked.data,
    });
  });

  const binary = publish('binary');
  const withHeader = (name: string, value: string): TopicRecord => ({
    ...binary,
    headers: { ...binary.headers, [name]: value },
  });

  it.each<[string, TopicRecord, string]>([
    ['without a value', { ...binary, value: null }, 'the record has no value'],
    ['that is no JSON', { ...binary, value: Buffer.from('{') }, 'the value of the record is no JSON'],
    ['without an id', withHeader('ce_id', ''), 'the record has no id'],
    ['of another specification', withHeader('ce_specversion', '0.3'), 'specversion of the record is not 1.0'],
    [
      'of another product',
      withHeader('ce_type', 'lamp.Lit.v1'),
      'the type of the record is no cadastre.NAME.vN: lamp.Lit.v1',
    ],
    ['with a wrong version', withHeader('ce_version', '-1'), 'version of the record is no positive integer: -1'],
    ['with a wrong time', withHeader('ce_time', 'noon'), 'time of the record is no time: noon'],
  ])('refuses one %s', (_, record, message) => {
    expect(() => decodeEvent(record)).toThrow(expect.objectContaining({ name: UnreadableRecordError.name, message }));
  });
});
