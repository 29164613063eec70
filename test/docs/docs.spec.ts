import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import prettier from 'prettier';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventRegistry } from '../../apps/modules.js';
import { ROOT } from '../support/folders.js';
import { MODULE_FOLDERS, readGroups } from '../support/modules.js';
import { gaps, misplacedRequests, unlistedBodies } from './compatibility.js';

import { pages } from './pages.js';
import { permissionsOf, routes, trailOf } from './routes.js';
import { testsOf } from './tests.js';

const DOCS = join(ROOT, 'docs', 'reference');
const SCHEMAS = join(DOCS, 'schemas');
const REMEDY = 'run `npm run docs` and commit what it writes';

let expectedPages: ReadonlyMap<string, string>;

const formatted = async (path: string, text: string): Promise<string> => {
  const filepath = join(DOCS, path);
  return prettier.format(text, { ...(await prettier.resolveConfig(filepath)), filepath });
};

const committed = async (path: string): Promise<string | null> => {
  try {
    return await readFile(join(DOCS, path), 'utf8');
  } catch {
    return null;
  }
};

const schemaFiles = async (): Promise<string[]> =>
  (await readdir(SCHEMAS).catch(() => [])).map((file) => `schemas/${file}`);

/** Writes the pages. With UPDATE_DOCS=1 this happens before the tests, so that they check the new pages. */
const update = async (): Promise<void> => {
  for (const file of await schemaFiles()) if (!expectedPages.has(file)) await rm(join(DOCS, file));
  for (const [path, text] of expectedPages) {
    const file = join(DOCS, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
};

beforeAll(async () => {
  const raw = [...(await pages())];
  expectedPages = new Map(
    await Promise.all(raw.map(async ([path, text]) => [path, await formatted(path, text)] as const)),
  );
  if (process.env['UPDATE_DOCS'] === '1') await update();
});

describe('the generated pages of docs/reference', () => {
  it(`match the code (if not, ${REMEDY})`, async () => {
    const outdated: string[] = [];
    for (const [path, text] of expectedPages) if ((await committed(path)) !== text) outdated.push(path);
    expect(outdated).toEqual([]);
  });

  it('contain a schema of each event and no others', async () => {
    expect((await schemaFiles()).toSorted()).toEqual(
      Object.keys(eventRegistry)
        .map((type) => `schemas/${type}.json`)
        .toSorted(),
    );
  });

  it('list the permissions of each route of the matrix', async () => {
    const routesByName = new Map((await routes()).map((route) => [`${route.method} ${route.path}`, route]));
    const permissionsAt = (route: string): string | undefined => {
      const documented = routesByName.get(route);
      return documented && permissionsOf(documented);
    };
    expect(permissionsAt('POST /api/v2/workspaces/:id/actions/lock')).toBe('`read-workspace`, `lock-workspace`');
    expect(permissionsAt('GET /healthz')).toBe('none, no token');
    expect([...routesByName.values()].filter(({ rows }) => rows.length === 0).map(({ path }) => path)).toEqual([]);
    expect(routesByName.get('POST /api/v2/workspaces/:id/actions/lock')).toMatchObject({
      type: 'workspaces',
      status: 200,
    });
  });

  it('list the audit entries of each route of the matrix', async () => {
    const trailsByRoute = new Map((await routes()).map((route) => [`${route.method} ${route.path}`, trailOf(route)]));
    expect(trailsByRoute.get('POST /api/v2/workspaces/:id/actions/lock')).toBe('`workspace lock`');
    expect(trailsByRoute.get('POST /api/v2/runs')).toBe(
      '`run create`; a run that starts at once: `workspace lock`, `run create`',
    );
    expect(trailsByRoute.get('GET /api/v2/workspaces/:id')).toBe('–');
    expect(trailsByRoute.get('GET /api/v2/ssh-keys/:id')).toBe('`ssh_key show`');
  });

  it('list at least one test of each controller', async () => {
    const [all, tests] = [await routes(), await testsOf()];
    const controllers = [...Map.groupBy(all, ({ type }) => type)];
    const testsByType = new Map(
      await Promise.all(controllers.map(async ([type, members]) => [type, await tests(members)] as const)),
    );
    expect([...testsByType].filter(([, files]) => files.length === 0)).toEqual([]);
    expect(testsByType.get('workspaces')).toEqual(
      expect.arrayContaining([
        'libs/workspaces/workspaces/workspaces/workspaces.controller.spec.ts',
        'test/matrix/rows/workspaces.ts',
        'test/e2e/lock.spec.ts',
      ]),
    );
    expect(testsByType.get('workspaces')).not.toContain('libs/runs/runs/runs/runs.controller.spec.ts');
  });
});

describe('the page of compatibility', () => {
  it('covers every member of every request that go-tfe sends', () => {
    expect(gaps()).toEqual([]);
    expect(misplacedRequests()).toEqual([]);
  });

  it('covers every route that parses a body', async () => {
    expect(unlistedBodies(await routes())).toEqual([]);
  });
});

describe('the page of the architecture', () => {
  it('describes each module in its group', async () => {
    const page = await readFile(join(ROOT, 'docs/explanation/architecture.md'), 'utf8');
    const described: string[] = [];
    let group = '';
    for (const [, heading, module = ''] of page.matchAll(/^\| (?:`([a-z-]+)`)? +\| `([a-z-]+)` /gm)) {
      group = heading ?? group;
      described.push(`libs/${group}/${module}`);
    }
    const order = await readGroups();
    const groupOf = (folder: string): number => order.indexOf(folder.split('/')[1] ?? '');
    expect(described).toEqual([...MODULE_FOLDERS.values()].toSorted((one, other) => groupOf(one) - groupOf(other)));
  });

  it('explains only endings that files have', async () => {
    const page = await readFile(join(ROOT, 'docs/explanation/architecture.md'), 'utf8');
    const rows = [...page.matchAll(/^\| ((?:`\.[a-z-]+`(?:, )?)+) +\|/gm)].map(([, cell = '']) => cell);
    const endings = rows.flatMap((cell) => [...cell.matchAll(/\.[a-z-]+/g)].map(([ending]) => ending));
    const files = await readdir(join(ROOT, 'libs'), { recursive: true });
    expect(endings.length).toBeGreaterThan(10);
    expect(endings.filter((ending) => !files.some((file) => file.endsWith(`${ending}.ts`)))).toEqual([]);
  });
});
