import { describe, expect, it } from '@jest/globals';
import type { AnyEventKind, RecordedEvent } from '#platform/kernel';
import { toKafkaMessage } from '#storage/message-log';
import { createRecordedEvent, sampleEventKinds } from '../../../test/support/kafka/sample-events.js';
import { decodeEvent, UnreadableRecordError, type TopicRecord } from './cloud-event.js';

const locked: RecordedEvent = {
  ...createRecordedEvent(5_000_000_000, 'ws-1', 2),
  type: 'WorkspaceLocked',
  data: { holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: 'an audit' },
};

const publish = (mode: 'binary' | 'structured', event = locked): TopicRecord => {
  // The kind decides only the topic.
  const kind = sampleEventKinds['LampLit'] as AnyEventKind;
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
    ['without a value', { ...binary, value: null }, 'value: must be JSON in UTF-8, got nothing'],
    ['without JSON', { ...binary, value: Buffer.from('{') }, 'value: must be JSON in UTF-8, got 1 other bytes'],
    ['without an id', withHeader('ce_id', ''), 'ce_id: must be a text that is not empty, got ""'],
    ['of another specification', withHeader('ce_specversion', '0.3'), 'ce_specversion: must be 1.0, got "0.3"'],
    ['without headers', { ...binary, headers: {} }, 'ce_specversion: must be 1.0, got nothing'],
    [
      'of another product',
      withHeader('ce_type', 'lamp.Lit.v1'),
      'ce_type: must be cadastre.NAME.vN, got "lamp.Lit.v1"',
    ],
    ['with a wrong version', withHeader('ce_version', '-1'), 'ce_version: must be a whole number from 1 up, got "-1"'],
    ['with a wrong time', withHeader('ce_time', 'noon'), 'ce_time: must be an RFC 3339 time, got "noon"'],
    [
      'with a long time',
      withHeader('ce_time', 'x'.repeat(5_000)),
      `ce_time: must be an RFC 3339 time, got "${'x'.repeat(100)}…"`,
    ],
  ])('refuses one %s', (_, record, message) => {
    expect(() => decodeEvent(record)).toThrow(expect.objectContaining({ name: UnreadableRecordError.name, message }));
  });

  it.each([
    ['7', 'value: must be a CloudEvent in a JSON object, got 7'],
    ['null', 'value: must be a CloudEvent in a JSON object, got null'],
    ['{"specversion":1}', 'specversion: must be 1.0, got 1'],
  ])('refuses the value %s in structured mode', (value, message) => {
    const record = { ...publish('structured'), value: Buffer.from(value) };
    expect(() => decodeEvent(record)).toThrow(expect.objectContaining({ name: UnreadableRecordError.name, message }));
  });
});
