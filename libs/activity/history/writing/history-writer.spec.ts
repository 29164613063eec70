import { describe, expect, it } from '@jest/globals';
import type { HistoryChange } from '#platform/kernel';
import { HistoryWriter } from './history-writer.js';
import { createEventAt } from '../spec.js';

const event = createEventAt('2026-11-21T12:00:00.000Z');

const writeChanges = (...changes: readonly HistoryChange[]): HistoryWriter => {
  const writer = new HistoryWriter([], []);
  for (const change of changes) writer.add(change, event);
  return writer;
};

const created: HistoryChange = { subject: 'ws-1', initialData: { name: 'one' } };
const renamed: HistoryChange = { subject: 'ws-1', patch: { name: 'two' } };
const ended: HistoryChange = { subject: 'ws-1', patch: null };

describe('the history writer', () => {
  it('returns the data after each added change', () => {
    expect(writeChanges(created, renamed).of('ws-1')).toEqual({ name: 'two' });
    expect(writeChanges(created, renamed).versions).toHaveLength(2);
  });

  it('ignores changes of subjects that were never created or are already deleted', () => {
    expect(writeChanges(renamed, ended).versions).toEqual([]);
    expect(writeChanges(created, ended, renamed).versions).toHaveLength(2);
  });

  it('ignores changes after the deletion of the organization, because a lock can be recorded after it', () => {
    const writer = writeChanges(created, { forgotten: 'org-1' }, renamed);
    expect([writer.versions.length, writer.forgotten]).toEqual([1, ['org-1']]);
  });
});
