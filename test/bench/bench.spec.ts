import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BUILD, ROOT } from '../support/folders.js';

let project: string;

/** Creates a project that contains the benchmark and what the global set-up has compiled, as after `npm run build`. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'cadastre-bench-spec-'));
  await mkdir(join(project, 'test'));
  await cp(join(ROOT, 'test/bench'), join(project, 'test/bench'), { recursive: true });
  await copyFile(join(ROOT, 'package.json'), join(project, 'package.json'));
  await symlink(join(BUILD, 'dist'), join(project, 'dist'));
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
});
afterAll(() => rm(project, { recursive: true, force: true }));

type ScriptResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

const runScript = (script: string, ...args: readonly string[]): Promise<ScriptResult> =>
  new Promise((resolve) => {
    const path = join(project, 'test/bench', script);
    execFile(process.execPath, [path, ...args], { cwd: project }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

/** Runs an expression with the exports of a module of the benchmark as `m`. */
const evaluate = async (module: string, expression: string): Promise<any> => {
  const path = JSON.stringify(join(project, 'test/bench', module));
  const script = join(project, `evaluate-${module}.mjs`);
  await writeFile(script, `const m = await import(${path}); console.log(JSON.stringify(${expression}));`);
  const { stdout, stderr } = await runScript(`../../evaluate-${module}.mjs`);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

type Figure = {
  readonly case?: string;
  readonly values: readonly number[];
  readonly better?: string | null;
  readonly budget?: number;
};

const saveRun = async (name: string, figures: readonly Figure[], format = 1): Promise<string> => {
  const file = join(project, name);
  const complete = figures.map((figure) => ({
    group: 'rest',
    case: 'GET workspace',
    variant: '16 connections',
    metric: 'times the bound',
    unit: '',
    better: 'lower',
    budget: null,
    ...figure,
  }));
  const run = { format, commit: name, date: '2026-11-21T00:00:00.000Z', machine: 'one', command: 'rest' };
  await writeFile(file, JSON.stringify({ ...run, figures: complete }));
  return file;
};

describe('the benchmark', () => {
  it('lists its commands', async () => {
    const { stdout } = await runScript('main.js', '--help');
    for (const command of [
      'rest',
      'growth',
      'publisher',
      'rebuild',
      'runs',
      'trail',
      'proofs',
      'verify',
      'start',
      'seed',
      'console',
      'full',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    }
    for (const command of ['report', 'compare', 'profile']) expect(stdout).toContain(`npm run bench -- ${command} `);
  });

  it('refuses an option that is no number', async () => {
    const { code, stderr } = await runScript('main.js', 'growth', '--sizes', '100,many');
    expect(code).toBe(1);
    expect(stderr).toContain("argument '100,many' is invalid. must be a number");
  });

  it('names the cases if a case is unknown', async () => {
    expect(await evaluate('cases.js', `m.selectCases(['get', 'lock'], false).map(({ name }) => name)`)).toEqual([
      'get',
      'lock',
    ]);
    const refused = await evaluate(
      'cases.js',
      `(() => { try { m.selectCases(['got']) } catch (e) { return e.message } })()`,
    );
    expect(refused).toMatch(/^there is no case "got"\. The cases are: get, any, named, any-name, list, /);
  });

  it('seeds the product, and its requests match the routes of the product', async () => {
    const { stdout, stderr } = await runScript('check.js');
    expect(stderr.replaceAll(/^Stopping …\n/gm, '')).toBe('');
    const { workspaces, reads, hasWritten, messages } = JSON.parse(stdout);
    expect(workspaces).toBe(3);
    expect(reads).toEqual(expect.arrayContaining(['get', 'deep', 'trail', 'provider']));
    expect(hasWritten).toBe(true);
    expect(messages).toBeGreaterThan(40);
  });

  it('leaves out what an idle server writes', async () => {
    const difference = `m.differenceOf({ at: 0, bytes: 100, transactions: 10 }, { at: 2000, bytes: 1100, transactions: 16 }, { bytes: 50, transactions: 2 })`;
    expect(await evaluate('writes.js', difference)).toEqual({ bytes: 900, transactions: 2 });
  });

  it('compares everything with the smallest organization', async () => {
    const sizes = await evaluate(
      'growth.js',
      `m.listSizes({ sizes: [100, 1000], organizations: [10], entries: [5000] })`,
    );
    expect(sizes.map(({ name }: { name: string }) => name)).toEqual([
      '100 workspaces',
      '1,000 workspaces',
      '10 organizations',
      '5,000 trail entries',
    ]);
    expect(sizes[3]).toMatchObject({ workspaces: 100, organizations: 1, entries: 5_000 });
  });
});

describe('a comparison of two runs', () => {
  const compare = async (before: Figure, after: Figure): Promise<ScriptResult> =>
    runScript('main.js', 'compare', await saveRun('before.json', [before]), await saveRun('after.json', [after]));

  it.each([
    ['slower', 'if no value of the later run is as good as the earlier ones', [4, 4.1, 4.2], [4.4, 4.5, 4.6], 1],
    ['faster', 'if every value of the later run is better', [4.4, 4.5, 4.6], [4, 4.1, 4.2], 0],
    ['same', 'if the ranges overlap', [4, 4.1, 4.5], [4.4, 4.6, 4.7], 0],
    ['same', 'if the medians differ by less than 3 %', [4, 4.01, 4.02], [4.03, 4.04, 4.05], 0],
    ['too few rounds', 'if a run has less than three', [4, 4.1], [8, 8.1], 0],
  ])('says "%s" %s', async (verdict, _, before, after, code) => {
    const result = await compare({ values: before }, { values: after });
    expect(result.stdout).toMatch(new RegExp(`^rest / GET workspace / .* ${verdict}$`, 'm'));
    expect(result.code).toBe(code);
  });

  it('accepts quantities that are better if they are higher', async () => {
    const result = await compare({ values: [1, 1, 1], better: 'higher' }, { values: [2, 2, 2], better: 'higher' });
    expect(result.stdout).toContain('+100 %');
    expect(result.stdout).toContain('0 slower, 1 faster');
  });

  it('ignores quantities that depend on the machine, and those of one run only', async () => {
    const before = await saveRun('before.json', [{ values: [1, 1, 1] }, { case: 'old', values: [1, 1, 1] }]);
    const after = await saveRun('after.json', [
      { values: [1, 1, 1] },
      { case: 'new', values: [9, 9, 9], better: null },
    ]);
    const { stdout } = await runScript('main.js', 'compare', before, after);
    expect(stdout).toContain('0 slower, 0 faster, 1 the same');
  });

  it('refuses files that are missing, no JSON, or of another format', async () => {
    const file = await saveRun('run.json', [{ values: [1] }]);
    const other = await saveRun('other.json', [], 2);
    const broken = join(project, 'broken.json');
    await writeFile(broken, '{');
    for (const [bad, reason] of [
      [join(project, 'absent.json'), 'cannot be read'],
      [broken, 'contains no JSON'],
      [other, 'has format 2, this bench reads format 1'],
    ] as const) {
      const { code, stderr } = await runScript('main.js', 'compare', file, bad);
      expect(stderr).toContain(`${bad}: ${reason}`);
      expect(code).toBe(1);
    }
  });
});

describe('a report', () => {
  it('has every budget beside what was reached, the other figures, and plots', async () => {
    const file = await saveRun('reported.json', [
      { values: [3.1, 3, 3.3], budget: 4 },
      { case: 'list of <20>', values: [12, 11, 13], budget: 10 },
      { case: 'create', values: [5] },
    ]);
    const docs = join(project, 'docs');
    expect(await runScript('main.js', 'report', file, '--docs', docs)).toMatchObject({ code: 0, stderr: '' });
    const page = await readFile(join(docs, 'explanation/performance.md'), 'utf8');
    expect(page).toMatch(/\| GET workspace, 16 connections: times the bound +\| 3\.1 \(3–3\.3\) +\| ≤ 4 +\| yes +\|/);
    expect(page).toMatch(
      /\| list of <20>, 16 connections: times the bound +\| 12 \(11–13\) +\| ≤ 10 +\| \*\*no\*\* +\|/,
    );
    expect(page).toMatch(/\| create, 16 connections +\| 5 +\|/);
    expect(page).toMatch(/\| reported\.json +\| 2026-11-21 +\| one +\|/);
    expect(page).toContain('![Requests](../images/performance-requests.svg)');
    const plot = await readFile(join(docs, 'images/performance-requests.svg'), 'utf8');
    expect(plot).toContain('list of &lt;20&gt;, 16 connections');
  });

  it('shows the figure of the last file where several have it', async () => {
    const first = await saveRun('first.json', [{ values: [3] }, { case: 'create', values: [5] }]);
    const last = await saveRun('last.json', [{ values: [2] }]);
    const docs = join(project, 'merged');
    await runScript('main.js', 'report', first, last, '--docs', docs);
    const page = await readFile(join(docs, 'explanation/performance.md'), 'utf8');
    expect(page.match(/^\| (GET workspace|create), 16 connections +\| \d+ +\|$/gm)).toEqual([
      expect.stringMatching(/GET workspace, .*\| 2 /),
      expect.stringMatching(/create, .*\| 5 /),
    ]);
  });

  it('plots growth by case and size', async () => {
    const figures = `[
      { group: 'growth', case: 'GET', variant: '100', metric: 'times the smallest', unit: '', budget: null, values: [1] },
      { group: 'growth', case: 'GET', variant: '1,000', metric: 'times the smallest', unit: '', budget: 1.3, values: [1.1, 1.2, 1.3] }]`;
    const plots = await evaluate('report.js', `m.plotsOf(${figures})`);
    expect(Object.keys(plots)).toEqual(['performance-growth.svg']);
    expect(plots['performance-growth.svg'].match(/<polyline points="[\d.]+,[\d.]+ [\d.]+,[\d.]+"/g)).toHaveLength(1);
  });
});

describe('a flame graph', () => {
  const frame = (functionName: string, url = '', lineNumber = 0) => ({ functionName, url, lineNumber });
  const profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)'), children: [2, 3, 4, 6] },
      { id: 2, callFrame: frame('(idle)') },
      { id: 3, callFrame: frame('serve', 'file:///x/dist/libs/api/edge/a.js', 4), children: [5] },
      { id: 4, callFrame: frame('serve', 'file:///x/dist/libs/api/edge/a.js', 4) },
      { id: 5, callFrame: frame('a<b>', 'file:///x/node_modules/pg/lib/c.js', 9) },
      { id: 6, callFrame: frame('unused') },
    ],
    samples: [2, 3, 4, 5],
    timeDeltas: [1_000, 2_000, 3_000, 5_000],
  };

  it('adds up the calls of one function, without idle time', async () => {
    const tree = await evaluate('flame-graph.js', `m.buildTree(${JSON.stringify(profile)})`);
    expect(tree).toMatchObject({
      label: '(root)',
      time: 10_000,
      children: [
        {
          label: 'serve libs/api/edge/a.js:5',
          time: 10_000,
          self: 5_000,
          children: [{ label: 'a<b> pg/lib/c.js:10', time: 5_000, children: [] }],
        },
      ],
    });
    expect(tree.children).toHaveLength(1);
  });

  it('names the sources of what was bundled', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cadastre-bundle-'));
    const url = pathToFileURL(join(folder, 'bundle.js')).href;
    const map = { version: 3, sources: ['../libs/api/edge/a.ts'], names: [], mappings: 'AAIA' };
    await writeFile(join(folder, 'bundle.js.map'), JSON.stringify(map));
    const nodes = [{ id: 1, callFrame: { ...frame('serve', url), columnNumber: 0 } }];
    const { nodes: located } = await evaluate('source-lines.js', `await m.locateSources(${JSON.stringify({ nodes })})`);
    await rm(folder, { recursive: true });
    expect(located[0].callFrame).toMatchObject({
      url: pathToFileURL(join(folder, '../libs/api/edge/a.ts')).href,
      lineNumber: 4,
    });
  });

  it('draws a box for each function', async () => {
    const image = await evaluate('flame-graph.js', `m.flameGraph(${JSON.stringify(profile)}, 'GET')`);
    expect(image).toMatch(/^<svg /);
    expect(image.match(/<g>/g)).toHaveLength(3);
    expect(image).toContain('<title>a&lt;b&gt; pg/lib/c.js:10: 50.0 %, 5 ms</title>');
  });
});
