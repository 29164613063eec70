import { describe, expect, it } from '@jest/globals';
import type { EventKind } from '#kernel';
import { sampleModule, sampleEventKinds } from '../../../test/support/kafka/index.js';
import { splitIntoRequests } from './request-batches.js';
import { toKafkaMessage, type OutboundMessage } from './cloud-event.js';

const messages = (count: number, value?: string): OutboundMessage[] =>
  sampleModule(count, 3).map((event) => {
    const origin = { source: 'https://cadastre.example', prefix: 'cadastre' };
    const message = toKafkaMessage(event, sampleEventKinds['LampLit'] as EventKind<never>, origin);
    return value === undefined ? message : { ...message, value };
  });

describe('requests', () => {
  it('hold everything, once and in order', () => {
    const all = messages(5_000);
    const requests = splitIntoRequests(all);
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.flat()).toEqual(all);
  });

  it('are one for a usual batch', () => {
    expect(splitIntoRequests(messages(1_000))).toHaveLength(1);
  });

  it('count bytes, not characters', () => {
    const umlauts = 'ü'.repeat(200_000);
    expect(splitIntoRequests(messages(4, umlauts)).map((request) => request.length)).toEqual([2, 2]);
  });

  it('let what is too large go alone', () => {
    const [small, other] = messages(2);
    const [large] = messages(1, 'x'.repeat(2_000_000));
    if (!small || !other || !large) throw new Error('three messages were made');
    expect(splitIntoRequests([small, large, other])).toEqual([[small], [large], [other]]);
  });

  it('are none for no events', () => {
    expect(splitIntoRequests([])).toEqual([]);
  });
});
