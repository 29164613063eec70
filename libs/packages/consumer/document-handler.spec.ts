import { describe, expect, it } from '@jest/globals';
import { UnreadableRecordError, type TopicRecord } from './cloud-event.js';
import { decodeDocument } from './document-handler.js';

const record: TopicRecord = {
  key: Buffer.from('ws-1'),
  value: Buffer.from('{"data":{"id":"ws-1","type":"workspaces","attributes":{"name":"hello"}}}'),
  headers: {
    ce_type: Buffer.from('cadastre.state.workspaces.v1'),
    ce_organization: Buffer.from('org-1'),
    ce_position: Buffer.from('5000000000'),
  },
};

describe('decoding a record of a state topic', () => {
  it('returns the resource', () => {
    expect(decodeDocument(record)).toEqual({
      id: 'ws-1',
      kind: 'workspaces',
      schemaVersion: 1,
      organization: 'org-1',
      position: 5_000_000_000n,
      resource: { id: 'ws-1', type: 'workspaces', attributes: { name: 'hello' } },
    });
  });

  it('returns no resource if it was deleted', () => {
    expect(decodeDocument({ ...record, value: null })).toMatchObject({ id: 'ws-1', resource: null });
  });

  it.each<[string, TopicRecord]>([
    ['without a key', { ...record, key: null }],
    ['of an event', { ...record, headers: { ...record.headers, ce_type: 'cadastre.WorkspaceLocked.v1' } }],
    ['without a position', { ...record, headers: { ...record.headers, ce_position: '' } }],
  ])('refuses one %s', (_, other) => {
    expect(() => decodeDocument(other)).toThrow('the record is not from a state topic of Cadastre');
  });

  it.each([
    [
      'cadastre.state.workspaces.v2',
      'the document of workspaces has schema version 2, and this package reads up to 1. Update it, then retry',
    ],
    ['cadastre.state.lamps.v1', 'this package reads no documents of lamps. Update it, then retry'],
    ['cadastre.state.constructor.v1', 'this package reads no documents of constructor. Update it, then retry'],
  ])('refuses the type %s', (type, message) => {
    const other = { ...record, headers: { ...record.headers, ce_type: type } };
    expect(() => decodeDocument(other)).toThrow(expect.objectContaining({ name: UnreadableRecordError.name, message }));
  });

  it('refuses a document without data', () => {
    expect(() => decodeDocument({ ...record, value: Buffer.from('null') })).toThrow('the document has no data');
  });
});
