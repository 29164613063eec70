import { z } from 'zod';
import { describe, expect, it } from '@jest/globals';
import type { AnyEventKind, EventRegistry } from '#platform/kernel';
import { sampleEventKinds, createRecordedEvent } from '../../../../test/support/kafka/index.js';
import { buildAsyncApiDocument } from './async-api.js';
import { toKafkaMessage } from '../topics/cloud-event.js';
import { buildEventSchemas } from './schemas.js';

describe('buildEventSchemas', () => {
  it('returns a schema for each event type, with its public name', () => {
    expect(buildEventSchemas(sampleEventKinds)).toMatchObject({
      LampLit: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'urn:cadastre:event:LampLit:v1',
        title: 'cadastre.LampLit.v1',
        type: 'object',
        properties: {
          room: { type: 'string' },
          watts: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ['room', 'watts'],
        additionalProperties: false,
      },
      LampBroken: { $id: 'urn:cadastre:event:LampBroken:v2', title: 'cadastre.LampBroken.v2' },
      DoorOpened: { properties: { by: { type: ['string', 'null'] } } },
    });
  });

  it('throws for a schema that is not zod, or that JSON Schema cannot express', () => {
    const withSchema = (schema: unknown) => ({ LampLit: { ...sampleEventKinds['LampLit'], schema } }) as EventRegistry;
    expect(() => buildEventSchemas(withSchema({ parse: (data: unknown) => data }))).toThrow(
      'LampLit is not a zod schema',
    );
    expect(() => buildEventSchemas(withSchema(z.strictObject({ since: z.date() })))).toThrow('cannot be represented');
  });
});

describe('the AsyncAPI document', () => {
  const document = buildAsyncApiDocument(sampleEventKinds, 'acme');

  it('has a channel for each topic, with its messages', () => {
    expect(document).toMatchObject({
      asyncapi: '3.0.0',
      channels: {
        lamps: {
          address: 'acme.lamps',
          messages: {
            LampLit: { $ref: '#/components/messages/LampLit' },
            LampBroken: { $ref: '#/components/messages/LampBroken' },
          },
        },
        doors: { address: 'acme.doors', messages: { DoorOpened: { $ref: '#/components/messages/DoorOpened' } } },
      },
      operations: { 'publish-doors': { action: 'send', channel: { $ref: '#/channels/doors' } } },
    });
  });

  it('has a channel for each consumed topic', () => {
    const headers = { type: 'object' };
    const payload = { type: 'object', title: 'a letter' };
    const inbound = [{ topic: 'letters', type: 'acme.Letter', description: 'Letters.', headers, payload }];
    expect(buildAsyncApiDocument(sampleEventKinds, 'acme', inbound)).toMatchObject({
      channels: {
        doors: { address: 'acme.doors' },
        letters: {
          address: 'acme.letters',
          messages: { 'acme.Letter': { $ref: '#/components/messages/acme.Letter' } },
        },
      },
      operations: {
        'publish-doors': { action: 'send' },
        'receive-letters': { action: 'receive', channel: { $ref: '#/channels/letters' } },
      },
      components: { messages: { 'acme.Letter': { headers, payload } } },
    });
  });

  it('has no dangling references', () => {
    const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(targets.length).toBeGreaterThan(10);
    for (const path of targets) expect(document).toHaveProperty(path.split('/'));
  });

  it('documents exactly the headers that a message has', () => {
    const headers = document.components.schemas['CloudEventHeaders'] as {
      required: string[];
      properties: Record<string, unknown>;
    };
    const event = createRecordedEvent(1, 'lamp-1', 1);
    const { context } = event;
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const fullest = { ...event, traceparent, context: { ...context, impersonator: 'user-2', causation: 'e-1' } };
    const request = { id: null, address: null, userAgent: null };
    const barest = { ...event, organization: null, context: { ...context, request, correlation: '' } };
    const namesOf = (each: typeof event) =>
      Object.keys(
        toKafkaMessage(each, sampleEventKinds['LampLit'] as AnyEventKind, {
          source: '/',
          prefix: 'acme',
          mode: 'binary',
        }).headers,
      );
    expect(Object.keys(headers.properties).toSorted()).toEqual(namesOf(fullest).toSorted());
    expect(headers.required.toSorted()).toEqual(namesOf(barest).toSorted());
  });
});
