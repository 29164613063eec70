import { describe, expect, it } from '@jest/globals';
import { HistoryWriter, type HistoryChange } from './history-writer.js';
import { createEventAt } from '../spec.js';

const event = createEventAt('2026-11-21T12:00:00.000Z');

const told = (...changes: readonly HistoryChange[]): HistoryWriter => {
  const chronicle = new HistoryWriter([], []);
  for (const change of changes) chronicle.add(change, event);
  return chronicle;
};

const born: HistoryChange = { subject: 'ws-1', initialData: { name: 'one' } };
const renamed: HistoryChange = { subject: 'ws-1', patch: { name: 'two' } };
const ended: HistoryChange = { subject: 'ws-1', patch: null };

describe('a chronicle', () => {
  it('knows at once what an event has made', () => {
    expect(told(born, renamed).of('ws-1')).toEqual({ name: 'two' });
    expect(told(born, renamed).versions).toHaveLength(2);
  });

  it('tells nothing of what was never born, and nothing after an end', () => {
    expect(told(renamed, ended).versions).toEqual([]);
    expect(told(born, ended, renamed).versions).toHaveLength(2);
  });

  it('tells nothing more of an organization that is gone: a lock may come after it', () => {
    const chronicle = told(born, { forgotten: 'org-1' }, renamed);
    expect([chronicle.versions.length, chronicle.forgotten]).toEqual([1, ['org-1']]);
  });
});
