import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { BUILD } from '../support/folders.js';

/* The sizes of the files that Vite has built. `layout.spec.ts` counts what a browser really loads. */

type Chunk = { readonly file: string; readonly imports?: readonly string[]; readonly isEntry?: boolean };
type FileSizes = Readonly<Record<string, { readonly sizes: { readonly gzip: number } }>>;

const MAX_BYTES = 200_000;
const WORKSPACE = 'src/screens/workspace/workspace.screen.tsx';
/** Screens that the router shows inside the one of their workspace. */
const BELOW_WORKSPACE = /screens\/(?:run|state-versions|workspace-[a-z]+)\//;
const LIVE = 'src/live/live-updates.tsx';

let chunks: Readonly<Record<string, Chunk>>;
let files: FileSizes;

const readJson = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(BUILD, 'dist/console', name), 'utf8'));

beforeAll(async () => {
  chunks = (await readJson('manifest.json')) as Readonly<Record<string, Chunk>>;
  files = (await readJson('files.json')) as FileSizes;
});

const addChunk = (name: string, names: Set<string>): void => {
  if (names.has(name)) return;
  names.add(name);
  for (const imported of chunks[name]?.imports ?? []) addChunk(imported, names);
};

/** Returns the compressed bytes of the scripts that these parts of the console need together. */
const countBytes = (names: readonly string[]): number => {
  const needed = new Set<string>();
  for (const name of names) addChunk(name, needed);
  return [...needed].reduce((sum, name) => sum + (files[chunks[name]?.file ?? '']?.sizes.gzip ?? Number.NaN), 0);
};

describe('the scripts of the console', () => {
  it('have at most 200 kB for each screen, with its parent', () => {
    const entries = Object.keys(chunks).filter((name) => chunks[name]?.isEntry);
    const screens = Object.keys(chunks).filter((name) => name.endsWith('.screen.tsx'));
    const sizes = screens.map((screen) => {
      const parents = BELOW_WORKSPACE.test(screen) ? [WORKSPACE] : [];
      return [screen, countBytes([...entries, ...parents, screen])] as const;
    });
    expect(sizes.length).toBeGreaterThan(10);
    expect(sizes.filter(([, bytes]) => !(bytes <= MAX_BYTES))).toEqual([]);
  });

  it('load the live updates after the first view', () => {
    const first = new Set<string>();
    for (const name of Object.keys(chunks).filter((each) => chunks[each]?.isEntry)) addChunk(name, first);
    expect(Object.keys(chunks)).toContain(LIVE);
    expect(first.has(LIVE)).toBe(false);
  });
});
