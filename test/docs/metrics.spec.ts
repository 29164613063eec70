import { glob, readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { BlobStore } from '#storage/blob-store';
import type { Database } from '#platform/postgres';
import { STATE_TOPICS } from '#api/state-topics';
import { createFileSweepers, moduleDefinitions } from '../../apps/modules.js';

/** Returns the texts that the sources of the product contain and that match, sorted, each once. */
const findInSources = async (pattern: RegExp): Promise<readonly string[]> => {
  const texts = new Set<string>();
  for await (const file of glob('{apps,libs}/**/*.ts')) {
    if (file.endsWith('.spec.ts')) continue;
    for (const [, text = ''] of (await readFile(file, 'utf8')).matchAll(pattern)) texts.add(text);
  }
  return [...texts].toSorted();
};

/** Returns the first cells of the tables of the reference that match, sorted. */
const findInTables = async (pattern: RegExp): Promise<readonly string[]> => {
  const page = await readFile('docs/reference/metrics.md', 'utf8');
  return [...page.matchAll(pattern)].map(([, text = '']) => text).toSorted();
};

// People write the page, because it says what the values mean.

describe('the reference of metrics', () => {
  it('lists every metric of the product, and no other one', async () => {
    const metrics = await findInSources(/\bname: '(cadastre_\w+)'/g);
    expect(metrics.length).toBeGreaterThan(30);
    expect(await findInTables(/^\| `(cadastre_\w+)`/gm)).toEqual(metrics);
  });

  it('lists every scheduled job, and no other one', async () => {
    const jobs = await findInSources(/\bname: '(\w+)',\s+everyMs\b/g);
    expect(jobs.length).toBeGreaterThan(10);
    expect(await findInTables(/^\| `(?!cadastre_)(\w+)`/gm)).toEqual(jobs);
  });

  it('lists every follower, and no other one', async () => {
    const page = await readFile('docs/reference/metrics.md', 'utf8');
    const [, text = ''] = /The followers are ([^.]*)\./.exec(page) ?? [];
    const followers = [
      ...moduleDefinitions.flatMap((definition) => definition.followers),
      ...createFileSweepers({} as BlobStore, {} as Database),
      { name: 'publisher' },
      { name: STATE_TOPICS },
    ];
    const listed = [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    expect(listed.toSorted()).toEqual([...new Set(followers.map(({ name }) => name))].toSorted());
  });
});
