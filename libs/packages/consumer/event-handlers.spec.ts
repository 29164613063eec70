import { describe, expect, it } from '@jest/globals';
import type { ClientBase } from 'pg';
import type { CadastreEvent, TopicRecord } from './cloud-event.js';
import { handleEvents, upcastEvent, type EventHandlers } from './event-handlers.js';
import type { RecordContext } from './record-handler.js';

const recordOf = (type: string): TopicRecord => ({
  key: Buffer.from('ws-1'),
  value: Buffer.from('{}'),
  headers: {
    ce_specversion: '1.0',
    ce_id: 'event-1',
    ce_type: type,
    ce_source: 'https://cadastre.example.com',
    ce_time: '2026-01-01T00:00:00Z',
    ce_stream: 'ws-1',
    ce_version: '1',
    ce_position: '1',
    ce_authtype: 'user',
    ce_authid: 'user-1',
  },
});

const context: RecordContext = {
  client: {} as ClientBase,
  topic: 'cadastre.workspaces',
  storeVersion: () => Promise.resolve(true),
};

describe('handling an event', () => {
  it('skips an event that the package does not know, also if its name is one of every object', async () => {
    const names: string[] = [];
    const handler = (event: CadastreEvent): Promise<void> => Promise.resolve(void names.push(event.type));
    const handlers = Object.create({ constructor: handler, toString: handler }) as EventHandlers;
    for (const name of ['constructor', 'toString', 'LampLit'])
      await handleEvents({ handlers })(recordOf(`cadastre.${name}.v1`), context);
    expect(names).toEqual([]);
  });

  it('calls a handler that is the method of a class', async () => {
    const names: string[] = [];
    class Handlers {
      WorkspaceLocked(event: CadastreEvent): Promise<void> {
        names.push(event.type);
        return Promise.resolve();
      }
    }
    await handleEvents({ handlers: new Handlers() })(recordOf('cadastre.WorkspaceLocked.v1'), context);
    expect(names).toEqual(['WorkspaceLocked']);
  });

  it('returns an event that it does not know as it is', () => {
    const event = { type: 'constructor', schemaVersion: 1, data: {} } as unknown as CadastreEvent;
    expect(upcastEvent(event)).toBe(event);
  });
});
