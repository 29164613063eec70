import { describe, expect, it } from '@jest/globals';
import { createEventAt } from '../spec.js';
import { createNextVersion, type NewSubjectVersion, type LatestSubjectVersion } from './subject-versions.js';
import type { SubjectData } from './history-fields.js';

const SETTINGS: SubjectData = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`someSettingNumber${n}`, `value ${n}`]),
);

const NOON = '2026-11-21T12:00:00.000Z';

type Made = NewSubjectVersion & LatestSubjectVersion;

const life = (...patches: readonly (SubjectData | null)[]): Made[] => {
  const made: Made[] = [];
  for (const patch of patches)
    made.push(createNextVersion(made.at(-1), { subject: 'ws-1', patch }, createEventAt(NOON)));
  return made;
};

/** As a reader puts it together of what is stored. */
const readBack = (versions: readonly Made[], { baseVersion, data }: Made): SubjectData | null =>
  data && { ...versions[baseVersion - 1]?.data, ...data };

const LOCK = { lock: { holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: 'applying' }, updatedAt: NOON };
const UNLOCK = { lock: null, updatedAt: NOON };

describe('the versions of a subject', () => {
  it('are numbered, and each comes to what all patches so far make of it', () => {
    const versions = life({ ...SETTINGS, name: 'one', lock: null }, { name: 'two' }, LOCK, { name: 'three' }, UNLOCK);
    expect(versions.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5]);
    expect(versions.map(({ fullData }) => fullData?.['name'])).toEqual(['one', 'two', 'two', 'three', 'three']);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
  });

  it('tell which fields have really changed, in the API’s names', () => {
    const [born, same, locked] = life({ autoApply: true, tags: [], lock: null }, { autoApply: true }, LOCK);
    expect(born?.changed).toEqual(['auto-apply', 'locked', 'tag-bindings']);
    expect(same?.changed).toEqual([]);
    expect(locked?.changed).toEqual(['locked', 'locked-by', 'locked-reason']);
  });

  it('keep what differs from an earlier one, however often the same few things change', () => {
    const turns = Array.from({ length: 100 }, () => [LOCK, UNLOCK]).flat();
    const versions = life({ ...SETTINGS, lock: null }, ...turns);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
    expect(new Set(versions.map(({ baseVersion }) => baseVersion))).toEqual(new Set([1]));
    const size = (data: unknown): number => JSON.stringify(data).length;
    const [kept, all] = [versions.map(({ data }) => data), versions.map(({ fullData }) => fullData)];
    expect(size(kept)).toBeLessThan(size(all) / 8);
  });

  it('are complete again when much has changed, so that what differs does not grow without end', () => {
    const tags = (count: number) => ({
      tags: Array.from({ length: count }, (_, n) => ({ key: `key-${n}`, value: 'v' })),
    });
    const versions = life({ ...SETTINGS, ...tags(0), lock: null }, LOCK, tags(50), UNLOCK);
    expect(versions.map(({ baseVersion }) => baseVersion)).toEqual([1, 1, 3, 3]);
    expect(versions.at(-1)?.data).toEqual(UNLOCK);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
  });

  it('end with one that has no data', () => {
    expect(life({ name: 'one' }, null).at(-1)).toMatchObject({ ordinal: 2, data: null, fullData: null, changed: [] });
  });

  it('never go back in time, whatever the clocks of gateways say', () => {
    const first = createNextVersion(undefined, { subject: 'ws-1', patch: { name: 'one' } }, createEventAt(NOON));
    const early = createEventAt('2026-11-21T11:59:59.990Z');
    expect(createNextVersion(first, { subject: 'ws-1', patch: { name: 'two' } }, early).since).toBe(NOON);
  });
});
