import { describe, expect, it } from '@jest/globals';
import type { AuditMapping, RecordedEvent } from '#platform/kernel';
import { createEntry, renderEntry } from './trail-entry.js';

const event = {
  type: 'LampLit',
  data: { lamp: 'lamp-1', bright: true },
  id: '0190f3a0-0000-7000-8000-000000000001',
  stream: 'room-4nZ8vKq2RtYw5xBc',
  version: 3,
  schemaVersion: 1,
  organization: 'org-7hGt3KmPq9RsVw2X',
  time: '2026-11-21T10:41:51.120Z',
  context: {
    accessor: { id: 'user-1', type: 'users', name: 'ada' },
    auth: 'Impersonated',
    impersonator: 'user-2',
    request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77', address: '192.0.2.7', userAgent: 'go-tfe' },
    correlation: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77',
    causation: null,
  },
  transaction: '700',
  position: 7,
} as const satisfies RecordedEvent;

type Lit = { readonly lamp: string; readonly bright: boolean };
const rowOf = (row: AuditMapping<Lit>): AuditMapping<never> => row as unknown as AuditMapping<never>;

describe('an entry of the audit trail', () => {
  it('has every field that clients parse, address and user agent of the request, and no other data of the event', () => {
    expect(createEntry(event, rowOf({ resource: 'room', action: 'light' }), '2026-11-21T10:41:51.999Z')).toEqual({
      id: event.id,
      version: '0',
      type: 'Resource',
      timestamp: '2026-11-21T10:41:51.999Z',
      auth: {
        accessor_id: 'user-1',
        description: 'ada',
        type: 'Impersonated',
        impersonator_id: 'user-2',
        organization_id: 'org-7hGt3KmPq9RsVw2X',
      },
      request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77', address: '192.0.2.7', user_agent: 'go-tfe' },
      resource: { id: 'room-4nZ8vKq2RtYw5xBc', type: 'room', action: 'light', meta: null },
    });
  });

  it('takes action, resource id and meta from the data if the mapping defines them', () => {
    const row = rowOf({
      resource: 'lamp',
      action: ({ bright }) => (bright ? 'brighten' : 'dim'),
      id: ({ lamp }) => lamp,
      meta: ({ lamp }, { stream }) => ({ lamp, room: stream }),
    });
    expect(createEntry(event, row, event.time).resource).toEqual({
      id: 'lamp-1',
      type: 'lamp',
      action: 'brighten',
      meta: { lamp: 'lamp-1', room: 'room-4nZ8vKq2RtYw5xBc' },
    });
  });

  it('has null fields if the system acted without a request', () => {
    const context = {
      ...event.context,
      auth: 'System',
      impersonator: null,
      request: { id: null, address: null, userAgent: null },
    } as const;
    const entry = createEntry({ ...event, context }, rowOf({ resource: 'room', action: 'light' }), event.time);
    expect(entry).toMatchObject({
      auth: { type: 'System', impersonator_id: null },
      request: { id: null, address: null, user_agent: null },
    });
  });

  it('is rendered with or without details of the client', () => {
    const entry = createEntry(event, rowOf({ resource: 'room', action: 'light' }), event.time);
    expect(renderEntry(entry, { clientDetails: true })).toEqual(entry);
    expect(renderEntry(entry, { clientDetails: false })).toEqual({ ...entry, request: { id: entry.request.id } });
    const systemEntry = { ...entry, request: { id: null, address: null, user_agent: null } };
    expect(renderEntry(systemEntry, { clientDetails: false })).toEqual(systemEntry);
  });
});
