import { describe, expect, it } from '@jest/globals';
import { countPlannedChanges, hasPlannedChanges, parseAppliedCounts } from './change-counts.js';

describe('the counts of an apply', () => {
  it.each([
    ['Apply complete! Resources: 1 added, 2 changed, 3 destroyed.', [1, 2, 3, 0]],
    [
      '\u001b[0m\u001b[1m\u001b[32mApply complete! Resources: 4 imported, 1 added, 0 changed, 0 destroyed.',
      [1, 0, 0, 4],
    ],
    ['Destroy complete! Resources: 7 destroyed.', [0, 0, 7, 0]],
    [
      '{"@message":"Apply complete!","changes":{"add":1,"change":2,"import":4,"remove":3,"operation":"apply"},"type":"change_summary"}',
      [1, 2, 3, 4],
    ],
  ])('are read from %s', (line, [additions, changes, destructions, imports]) => {
    expect(parseAppliedCounts(line)).toEqual({ additions, changes, destructions, imports });
  });

  it.each(['Apply complete!', '{"type":"change_summary"', '{"type":"change_summary"}', 'echo "change_summary"'])(
    'are not read from %s',
    (line) => expect(parseAppliedCounts(line)).toBeNull(),
  );
});

const change = (...actions: readonly string[]) => ({ change: { actions } });

describe('the counts of a plan', () => {
  it('count a replacement twice, and reads of data never', () => {
    const plan = {
      resource_changes: [
        change('create'),
        change('delete', 'create'),
        change('update'),
        change('read'),
        change('no-op'),
        { change: { actions: ['no-op'], importing: { id: 'x' } } },
      ],
    };
    expect(countPlannedChanges(plan)).toEqual({ additions: 2, changes: 1, destructions: 1, imports: 1 });
  });

  it.each([
    ['nothing', {}, false],
    ['no-ops', { resource_changes: [change('no-op')], output_changes: { a: { actions: ['no-op'] } } }, false],
    ['an output', { output_changes: { a: { actions: ['create'] } } }, true],
    ['a resource', { resource_changes: [change('delete')] }, true],
    ['an import', { resource_changes: [{ change: { actions: ['no-op'], importing: { id: 'x' } } }] }, true],
    ['another address', { resource_changes: [{ ...change('no-op'), previous_address: 'a.b' }] }, true],
    ['drift', { resource_drift: [{}] }, false],
    ['what terraform says, whatever it lists', { applyable: false, resource_changes: [change('create')] }, false],
  ])('has changes with %s: %#', (_, plan, expected) => {
    expect(hasPlannedChanges(plan, false)).toBe(expected);
  });

  it('has changes with drift if the run only refreshes', () => {
    expect(hasPlannedChanges({ resource_drift: [{}] }, true)).toBe(true);
  });
});
