import { describe, expect, it } from '@jest/globals';
import type { AnyEventKind } from '#platform/kernel';
import { sampleModule, sampleEventKinds } from '../../../../test/support/kafka/index.js';
import { splitIntoRequests } from './request-batches.js';
import { toKafkaMessage, type OutboundMessage } from '../topics/cloud-event.js';

const messages = (count: number, value?: string): OutboundMessage[] =>
  sampleModule(count, 3).map((event) => {
    const origin = { source: 'https://cadastre.example', prefix: 'cadastre', mode: 'binary' } as const;
    const message = toKafkaMessage(event, sampleEventKinds['LampLit'] as AnyEventKind, origin);
    return value === undefined ? message : { ...message, value };
  });

const inOnePartition = (): string => 'lamps/0';

describe('splitIntoRequests', () => {
  it('keeps all messages, once and in order', () => {
    const all = messages(5_000);
    const requests = splitIntoRequests(all, inOnePartition);
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.flat()).toEqual(all);
  });

  it('returns one request for a usual batch', () => {
    expect(splitIntoRequests(messages(1_000), inOnePartition)).toHaveLength(1);
  });

  it('counts bytes, not characters', () => {
    const umlauts = 'ü'.repeat(200_000);
    expect(splitIntoRequests(messages(4, umlauts), inOnePartition).map((request) => request.length)).toEqual([2, 2]);
  });

  it('puts a message that exceeds the limit into a request of its own', () => {
    const [small, another] = messages(2);
    const [large] = messages(1, 'x'.repeat(2_000_000));
    if (!small || !another || !large) throw new Error('three messages were made');
    expect(splitIntoRequests([small, large, another], inOnePartition)).toEqual([[small], [large], [another]]);
  });

  it('limits each partition of a request, and the whole request', () => {
    const all = messages(40, 'x'.repeat(400_000));
    const lengths = (count: number) =>
      splitIntoRequests(all, (message) => `lamps/${all.indexOf(message) % count}`).map(({ length }) => length);
    expect(lengths(1)).toEqual(Array.from({ length: 20 }, () => 2));
    expect(lengths(4)).toEqual([8, 8, 8, 8, 8]);
    expect(lengths(40)).toEqual([19, 19, 2]);
  });

  it('returns no request for no events', () => {
    expect(splitIntoRequests([], inOnePartition)).toEqual([]);
  });
});
