import { describe, expect, it } from '@jest/globals';
import type { EventContext, AnyEventKind, RecordedEvent } from '#platform/kernel';
import { sampleEventKinds, createRecordedEvent } from '../../../../test/support/kafka/index.js';
import { toKafkaMessage } from './cloud-event.js';

const origin = { source: 'https://cadastre.example', prefix: 'cadastre', mode: 'binary' } as const;

const messageOf = (event: RecordedEvent) => toKafkaMessage(event, sampleEventKinds[event.type] as AnyEventKind, origin);

const event = createRecordedEvent(4_000_000_000, 'lamp-1', 3, { type: 'LampBroken', data: { room: 'Küche' } });

const withContext = (context: Partial<EventContext>): RecordedEvent => ({
  ...event,
  context: { ...event.context, ...context },
});

describe('toKafkaMessage', () => {
  it('sets every header', () => {
    expect(messageOf(event)).toEqual({
      topic: 'cadastre.lamps',
      key: 'lamp-1',
      value: '{"room":"Küche"}',
      headers: {
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_type: 'cadastre.LampBroken.v2',
        ce_source: 'https://cadastre.example',
        ce_subject: 'lamp-1',
        ce_time: event.time,
        ce_organization: 'org-4nZ8vKq2RtYw5xBc',
        ce_stream: 'lamp-1',
        ce_version: '3',
        ce_position: '4000000000',
        ce_authtype: 'user',
        ce_authid: 'user-7hGt3KmPq9RsVw2X',
        ce_request: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77',
        ce_correlationid: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77',
      },
      timestamp: String(Date.parse(event.time)),
    });
  });

  it('includes the impersonator, the causing event and the kind of caller', () => {
    const auth = 'Impersonated';
    expect(messageOf(withContext({ auth, impersonator: 'user-root', causation: 'e-1' })).headers).toMatchObject({
      ce_authtype: 'user',
      ce_impersonator: 'user-root',
      ce_causationid: 'e-1',
    });
    const accessor = { id: 'system', type: 'system', name: 'retention' };
    expect(messageOf(withContext({ auth: 'System', accessor })).headers).toMatchObject({ ce_authtype: 'system' });
    const team = { id: 'team-1', type: 'teams', name: 'owners' };
    expect(messageOf(withContext({ accessor: team })).headers).toMatchObject({ ce_authtype: 'service_account' });
  });

  it('contains neither names nor addresses', () => {
    expect(JSON.stringify(messageOf(event))).not.toMatch(/Ada|192\.0\.2\.7|go-tfe/);
  });
});

describe('structured mode', () => {
  const messageIn = (mode: 'binary' | 'structured', each: RecordedEvent) =>
    toKafkaMessage(each, sampleEventKinds[each.type] as AnyEventKind, { ...origin, mode });

  it('has the attributes of the headers in the document, beside the data', () => {
    const traced = { ...event, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const { headers, value, ...rest } = messageIn('structured', traced);
    const binary = messageIn('binary', traced);
    const { 'content-type': _, traceparent, ...attributes } = binary.headers;
    expect(headers).toEqual({ 'content-type': 'application/cloudevents+json; charset=UTF-8', traceparent });
    expect(JSON.parse(value)).toEqual({
      ...Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name.replace('ce_', ''), text])),
      datacontenttype: 'application/json',
      data: { room: 'Küche' },
    });
    expect(rest).toEqual({ topic: binary.topic, key: binary.key, timestamp: binary.timestamp });
  });
});

// These rules are taken from the specification, independently of the code: spec.md v1.0.2 and
// kafka-protocol-binding.md.
describe('the rules of CloudEvents 1.0', () => {
  const request = { id: null, address: null, userAgent: null };
  const bare = { ...withContext({ request, correlation: '' }), organization: null };
  const cases: readonly (readonly [string, RecordedEvent])[] = [
    ['a full event', withContext({ impersonator: 'user-2', causation: event.id })],
    ['an event of the site without a request', bare],
  ];

  it.each(cases)('are followed for %s', (_, each) => {
    const { headers, value } = messageOf(each);
    const attributes = Object.entries(headers).filter(([name]) => name !== 'content-type');

    // Binding §3.2.3.1: all attributes have the prefix. spec.md "Naming Conventions": a-z and 0-9, at most 20
    // characters.
    for (const [name] of attributes) expect(name).toMatch(/^ce_[a-z0-9]{1,20}$/);
    // "Type System": a string has no control characters. "REQUIRED attributes": non-empty strings.
    // oxlint-disable-next-line no-control-regex
    for (const [, text] of attributes) expect(text).toMatch(/^[^\u0000-\u001F\u007F-\u009F]+$/);
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['ce_id', 'ce_source', 'ce_specversion', 'ce_type']));
    expect(headers['ce_specversion']).toBe('1.0');
    // `source` is a URI-reference, absolute as recommended; `time` is RFC 3339.
    expect(URL.canParse(headers['ce_source'] ?? '')).toBe(true);
    expect(headers['ce_time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    // Binding §3: a content type that begins with application/cloudevents would mean structured mode.
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(value)).toEqual(each.data);
  });

  it('require that attributes without a value are left out', () => {
    const { headers } = messageOf(bare);
    for (const name of ['ce_organization', 'ce_impersonator', 'ce_request', 'ce_correlationid', 'ce_causationid']) {
      expect(headers).not.toHaveProperty(name);
    }
  });
});
