import { describe, expect, it } from '@jest/globals';
import { listChangedResources } from './changed-resources.js';

const resource = (address: string, ...actions: readonly string[]) => ({ address, change: { actions, after: 'hush' } });

describe('the changed resources of a plan', () => {
  it('have the kind of their change, and nothing that is read or stays', () => {
    const plan = {
      resource_changes: [
        resource('a.new', 'create'),
        resource('a.kept', 'no-op'),
        resource('data.a.read', 'read'),
        resource('a.changed', 'update'),
        resource('a.replaced', 'delete', 'create'),
        resource('a.gone', 'delete'),
        resource('a.forgotten', 'forget'),
      ],
    };
    expect(listChangedResources(plan)).toEqual([
      { address: 'a.new', kind: 'create' },
      { address: 'a.changed', kind: 'update' },
      { address: 'a.replaced', kind: 'replace' },
      { address: 'a.gone', kind: 'destroy' },
      { address: 'a.forgotten', kind: 'forget' },
    ]);
  });

  it('are none in a plan without resources', () => {
    expect(listChangedResources({ resource_changes: [] })).toEqual([]);
  });

  it.each([null, {}, { resource_changes: [{ address: 1 }] }])('are unknown in another document: %j', (document) => {
    expect(listChangedResources(document)).toBeNull();
  });
});
