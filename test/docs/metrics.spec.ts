import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { BlobStore } from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import { STATE_TOPICS } from '#api/state-topics';
import { createFollowers } from '../../apps/modules.js';
import { ROOT } from '../support/folders.js';

const readSources = async (): Promise<readonly string[]> => {
  const files = globSync('{apps,libs}/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.spec.ts'));
  return Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
};

// Read before the tests: beside other work, thousands of files have taken longer than a test may.
const sources = await readSources();

/** Returns the texts that the sources of the product contain and that match, sorted, each once. */
const findInSources = (pattern: RegExp): readonly string[] => {
  const texts = sources.flatMap((source) => [...source.matchAll(pattern)].map(([, text = '']) => text));
  return [...new Set(texts)].toSorted();
};

/** Returns the first cells of the tables of the reference that match, sorted. */
const findInTables = async (pattern: RegExp): Promise<readonly string[]> => {
  const page = await readFile(join(ROOT, 'docs/reference/metrics.md'), 'utf8');
  return [...page.matchAll(pattern)].map(([, text = '']) => text).toSorted();
};

// People write the page, because it says what the values mean.

describe('the reference of metrics', () => {
  it('lists every metric of the product, and no other one', async () => {
    const metrics = findInSources(/\bname: '(cadastre_\w+)'/g);
    expect(metrics.length).toBeGreaterThan(30);
    expect(await findInTables(/^\| `(cadastre_\w+)`/gm)).toEqual(metrics);
  });

  it('lists every scheduled job, and no other one', async () => {
    const jobs = findInSources(/\bname: '(\w+)',\s+everyMs\b/g);
    expect(jobs.length).toBeGreaterThan(10);
    expect(await findInTables(/^\| `(?!cadastre_)(\w+)`/gm)).toEqual(jobs);
  });

  it('lists every follower, and no other one', async () => {
    const page = await readFile(join(ROOT, 'docs/reference/metrics.md'), 'utf8');
    const [, text = ''] = /The followers are ([^.]*)\./.exec(page) ?? [];
    const followers = [
      ...createFollowers({ store: {} as EventStore, blobs: {} as BlobStore, settings: { toolReleases: [] } }),
      { name: 'publisher' },
      { name: STATE_TOPICS },
    ];
    const listed = [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    expect(listed.toSorted()).toEqual([...new Set(followers.map(({ name }) => name))].toSorted());
  });
});
