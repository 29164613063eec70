import { glob, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

const MARKDOWN = ['*.md', '{docs,deploy}/**/*.md'];
const SOURCES = ['.*.js', '*.{js,md,yml}', '.ci/*', '{apps,libs,test,deploy,docs}/**/*.{ts,js,mjs,sql,md,yml}'];

/** Contents of files, by path from the root of the repository. */
type Files = ReadonlyMap<string, string>;

const find = async (patterns: string | readonly string[]): Promise<string[]> => {
  const paths: string[] = [];
  for await (const path of glob(patterns, { cwd: ROOT, exclude: ['**/node_modules'] })) paths.push(path);
  return paths;
};

const read = async (patterns: readonly string[]): Promise<Files> => {
  const paths = await find(patterns);
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const)),
  );
};

const withoutCode = (page: string): string => page.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the fragments of a page's headings, as GitHub makes them. A repeated heading gets a number. */
const fragmentsOf = (page: string): Set<string> => {
  const counts = new Map<string, number>();
  const headings = [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#{1,6} (.*)$/gm)];
  return new Set(
    headings.map(([, heading = '']) => {
      const slug = heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-');
      const before = counts.get(slug) ?? 0;
      counts.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
};

const exists = async (path: string): Promise<boolean> => (await find(path)).length > 0;

const isBroken = async (markdown: Files, from: string, link: string): Promise<boolean> => {
  const [path = '', fragment] = link.split('#');
  const target = path === '' ? from : relative(ROOT, join(ROOT, dirname(from), path));
  if (!(await exists(target))) return true;
  return fragment !== undefined && !fragmentsOf(markdown.get(target) ?? '').has(fragment);
};

const compareNumbers = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

let markdown: Files;

beforeAll(async () => {
  markdown = await read(MARKDOWN);
});

describe('the documents', () => {
  it('link only to files and headings that exist', async () => {
    const broken: string[] = [];
    for (const [from, page] of markdown) {
      const links = [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string);
      for (const link of links.filter((one) => !/^[a-z]+:/.test(one)))
        if (await isBroken(markdown, from, link)) broken.push(`${from}: ${link}`);
    }
    expect(broken).toEqual([]);
  });

  it('exist if a source, a message or a page names their path', async () => {
    const missing: string[] = [];
    for (const [from, text] of await read(SOURCES))
      for (const [path] of text.matchAll(/(?<![\w./-])docs\/(?:tutorial|how-to|reference|explanation)\/[\w/.-]*\w/g))
        if (!(await exists(`${path}{,-*}`))) missing.push(`${from}: ${path}`);
    expect(missing).toEqual([]);
  });

  it('name only sources that exist, by path or by name', async () => {
    const sources = new Set((await read(SOURCES)).keys());
    const names = new Set([...sources].map((path) => basename(path)));
    const missing: string[] = [];
    for (const [from, page] of markdown) {
      if (from === 'CHANGELOG.md') continue;
      for (const [, name = ''] of page.matchAll(/`([\w/.-]+\.(?:ts|sql))`/g))
        if (!name.includes('NNN') && !(name.includes('/') ? sources : names).has(name))
          missing.push(`${from}: ${name}`);
    }
    expect(missing).toEqual([]);
  });

  it('include a list of all decision records, with their titles', async () => {
    const list = markdown.get('docs/explanation/adr/README.md') ?? '';
    const entries = [...markdown].flatMap(([path, page]) => {
      const [, number, title] = /^# (\d+)\. (.*)$/m.exec(page) ?? [];
      return /\/adr\/\d/.test(path) ? [`- ${number}: [${title}](${basename(path)})`] : [];
    });
    expect(list.split('\n').filter((line) => line.startsWith('- '))).toEqual(entries.toSorted(compareNumbers));
  });

  it('belong to one of the four kinds of documents', async () => {
    const misplaced = [...markdown.keys()].filter(
      (path) =>
        path.startsWith('docs/') && !/^docs\/(?:README\.md|(?:tutorial|how-to|reference|explanation)\/)/.test(path),
    );
    expect(misplaced).toEqual([]);
  });
});
