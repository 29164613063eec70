import { describe, expect, it } from '@jest/globals';
import { parseInboundEvent } from './inbound-cloud-event.js';

const attributes = { specversion: '1.0', id: 'e-1', source: 'https://policies.example', type: 'thing.Happened' };
const ce = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce_${name}`, Buffer.from(value)]));
const value = Buffer.from('{"a":"Küche"}');

const structured = (event: unknown, type = 'application/cloudevents+json; charset=UTF-8') =>
  parseInboundEvent({ value: Buffer.from(JSON.stringify(event)), headers: { 'content-type': type } });

describe('parseInboundEvent', () => {
  it('reads binary mode', () => {
    const headers = { ...ce, 'content-type': 'application/json', ce_organization: 'acme', trace: 'x' };
    const expected = { attributes: { ...attributes, organization: 'acme' }, data: { a: 'Küche' } };
    expect(parseInboundEvent({ value, headers })).toEqual(expected);
    expect(parseInboundEvent({ value, headers: { ...headers, 'content-type': undefined } })).toEqual(expected);
    expect(
      parseInboundEvent({ value, headers: { ...headers, 'content-type': ['text/plain', 'application/x+json'] } }),
    ).toEqual(expected);
  });

  it('reads structured mode', () => {
    const event = { ...attributes, organization: 'acme', datacontenttype: 'application/json', data: { a: 1 } };
    const { data, ...expected } = event;
    expect(structured(event)).toEqual({ attributes: expected, data });
    expect(structured({ ...attributes, number: 7 })).toEqual({ attributes, data: undefined });
  });

  it.each<[string, () => unknown]>([
    ['A CloudEvent has an id, a source and a type', () => parseInboundEvent({ value, headers: {} })],
    ['A CloudEvent has an id', () => parseInboundEvent({ value, headers: { ...ce, ce_id: '' } })],
    [
      'Only CloudEvents of specversion 1.0',
      () => parseInboundEvent({ value, headers: { ...ce, ce_specversion: '0.3' } }),
    ],
    ['Only CloudEvents of specversion 1.0', () => structured({ ...attributes, specversion: 1 })],
    ['The message has no value', () => parseInboundEvent({ value: null, headers: ce })],
    ['The message is not UTF-8', () => parseInboundEvent({ value: Buffer.from([0xff]), headers: ce })],
    ['The message is not UTF-8', () => parseInboundEvent({ value, headers: { ...ce, ce_id: Buffer.from([0xff]) } })],
    ['The message is not valid JSON', () => parseInboundEvent({ value: Buffer.from('{'), headers: ce })],
    [
      'The data is of type text/xml',
      () => parseInboundEvent({ value, headers: { ...ce, 'content-type': 'text/xml' } }),
    ],
    ['The data is not JSON', () => structured({ ...attributes, datacontenttype: 'text/xml' })],
    ['A CloudEvent is a JSON object', () => structured([attributes])],
    ['A CloudEvent is a JSON object', () => structured(null)],
    ['not read as application/cloudevents-batch+json', () => structured([], 'application/cloudevents-batch+json')],
  ])('refuses an invalid message: %s', (reason, read) => {
    expect(read).toThrow(reason);
  });
});
