import { describe, expect, it } from '@jest/globals';
import type { SubjectData } from '#platform/kernel';
import { createEventAt } from '../spec.js';
import { createNextVersion, type NewSubjectVersion, type LatestSubjectVersion } from './subject-versions.js';

const NOON = '2026-11-21T12:00:00.000Z';

const SETTINGS: SubjectData = {
  ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`someSettingNumber${n}`, `value ${n}`])),
  updatedAt: NOON,
};

type TestVersion = NewSubjectVersion & LatestSubjectVersion;

const life = (...patches: readonly (SubjectData | null)[]): TestVersion[] => {
  const versions: TestVersion[] = [];
  for (const patch of patches)
    versions.push(createNextVersion(versions.at(-1), { subject: 'ws-1', patch }, createEventAt(NOON)));
  return versions;
};

/** Returns the data of a version, composed from what is stored. */
const readBack = (versions: readonly TestVersion[], { ordinal, since, data }: TestVersion): SubjectData | null => {
  const base = versions.slice(0, ordinal).findLast(({ isBase }) => isBase);
  return data && { ...base?.data, updatedAt: since, ...data };
};

const LOCK = { lock: { holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: 'applying' }, updatedAt: NOON };
const UNLOCK = { lock: null, updatedAt: NOON };

describe('the versions of a subject', () => {
  it('are numbered, and each contains the result of all patches so far', () => {
    const versions = life({ ...SETTINGS, name: 'one', lock: null }, { name: 'two' }, LOCK, { name: 'three' }, UNLOCK);
    expect(versions.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5]);
    expect(versions.map(({ fullData }) => fullData?.['name'])).toEqual(['one', 'two', 'two', 'three', 'three']);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
  });

  it('list the fields that have really changed, under their names in the API', () => {
    const [created, same, locked] = life({ autoApply: true, tags: [], lock: null }, { autoApply: true }, LOCK);
    expect(created?.changed).toEqual(['auto-apply', 'locked', 'tag-bindings']);
    expect(same?.changed).toEqual([]);
    expect(locked?.changed).toEqual(['locked', 'locked-by', 'locked-reason']);
  });

  it('store only differences from a base version, however often the same fields change', () => {
    const turns = Array.from({ length: 100 }, () => [LOCK, UNLOCK]).flat();
    const versions = life({ ...SETTINGS, lock: null }, ...turns);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
    expect(versions.filter(({ isBase }) => isBase).map(({ ordinal }) => ordinal)).toEqual([1]);
    const size = (data: unknown): number => JSON.stringify(data).length;
    const [stored, all] = [versions.map(({ data }) => data), versions.map(({ fullData }) => fullData)];
    expect(size(stored)).toBeLessThan(size(all) / 8);
  });

  it('store all data again after large changes, so that differences do not grow without limit', () => {
    const tags = (count: number) => ({
      tags: Array.from({ length: count }, (_, n) => ({ key: `key-${n}`, value: 'v' })),
    });
    const versions = life({ ...SETTINGS, ...tags(0), lock: null }, LOCK, tags(50), UNLOCK);
    expect(versions.map(({ isBase }) => isBase)).toEqual([true, false, true, false]);
    expect(versions.at(-1)?.data).toEqual({ lock: null });
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
  });

  it('store the time of the last update only if it is not the time of the version', () => {
    const ONE = '2026-11-21T13:00:00.000Z';
    const created = createNextVersion(
      undefined,
      { subject: 'ws-1', patch: { ...SETTINGS, name: 'one' } },
      createEventAt(NOON),
    );
    const tagged = createNextVersion(created, { subject: 'ws-1', patch: { variables: ['var-1'] } }, createEventAt(ONE));
    const renamed = createNextVersion(
      tagged,
      { subject: 'ws-1', patch: { name: 'two', updatedAt: ONE } },
      createEventAt(ONE),
    );
    const versions = [created, tagged, renamed];
    expect(versions.map(({ data }) => data?.['updatedAt'])).toEqual([undefined, NOON, undefined]);
    expect(versions.map(({ fullData }) => fullData?.['updatedAt'])).toEqual([NOON, NOON, ONE]);
    for (const version of versions) expect(readBack(versions, version)).toEqual(version.fullData);
  });

  it('end with a version without data', () => {
    expect(life({ name: 'one' }, null).at(-1)).toMatchObject({ ordinal: 2, data: null, fullData: null, changed: [] });
  });

  it('have increasing times, even if clocks of gateways differ', () => {
    const first = createNextVersion(undefined, { subject: 'ws-1', patch: { name: 'one' } }, createEventAt(NOON));
    const early = createEventAt('2026-11-21T11:59:59.990Z');
    expect(createNextVersion(first, { subject: 'ws-1', patch: { name: 'two' } }, early).since).toBe(NOON);
  });
});
