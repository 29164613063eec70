import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import '../../apps/publisher/src/publisher.js';
import { routes } from '../docs/routes.js';
import { ROOT } from '../support/folders.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { listGroupingLabels, listSelectors, matchesValue, toMetricName } from './promql.js';
import { INSTALL_TIMEOUT_MS, findToolFile, runTool } from './tools.js';

const ALERTS = 'deploy/prometheus/alerts.yml';
/** Prometheus adds these labels to everything that it reads. */
const SCRAPE_LABELS = ['instance', 'job'];

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
};

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
};

type Dashboard = {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
};

/** An expression with its place, for messages. */
type Expression = { readonly at: string; readonly text: string; readonly legend: string };

type Metric = { readonly labels: readonly string[] };

let server: TestServer;
let folder: string;
let alerts: Alert[];
let dashboards: Dashboard[];
let expressions: Expression[];
let metrics: ReadonlyMap<string, Metric>;
let histograms: ReadonlySet<string>;
let valuesByLabel: ReadonlyMap<string, readonly string[]>;

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

const readAlerts = async (): Promise<Alert[]> =>
  parse(await read(ALERTS)).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);

const readDashboards = async (): Promise<Dashboard[]> => {
  const all: Dashboard[] = [];
  for await (const file of glob('deploy/grafana/*.json', { cwd: ROOT })) {
    all.push({ file, ...JSON.parse(await readFile(join(ROOT, file), 'utf8')) });
  }
  return all;
};

const listExpressions = (): Expression[] => [
  ...alerts.map(({ alert, expr, annotations }) => ({ at: alert, text: expr, legend: annotations.summary })),
  ...dashboards.flatMap(({ file, panels }) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({ at: `${file}: ${title}`, text: expr, legend: legendFormat })),
    ),
  ),
];

/** Returns what `/metrics` contains. Labels of metrics without a value are not in the response. */
const readMetrics = async (): Promise<void> => {
  const { text } = await server.get('/metrics');
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  histograms = new Set(types.filter(([, , type]) => type === 'histogram').map(([, name = '']) => name));
  metrics = new Map(
    types.map(([, name = '']) => {
      const { labelNames } = register.getSingleMetric(name) as unknown as { labelNames: readonly string[] };
      return [name, { labels: [...labelNames, ...(histograms.has(name) ? ['le'] : [])] }];
    }),
  );
};

/** Returns the values of labels that the reference of metrics lists, and the routes of the product. */
const readLabelValues = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const page = await read('docs/reference/metrics.md');
  const listCode = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const jobs = page.slice(page.indexOf('| Scheduled job'), page.indexOf('## Facts'));
  return new Map([
    ['follower', listCode(/The followers are ([^.]*)\./.exec(page)?.[1])],
    ['scheduled_job', listCode(jobs)],
    ['pool', listCode(/pools are ([^|]*)\|/.exec(page)?.[1])],
    ['result', [...page.matchAll(/`result`: ([^|]*)\|/g)].flatMap(([, values]) => listCode(values))],
    ['reason', listCode(/requests refused with 401: token ([^|]*)\|/.exec(page)?.[1])],
    ['route', (await routes()).map(({ path }) => path)],
    ['method', ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']],
    ['status', ['200', '404', '500']],
    ['state', ['open', 'closed']],
  ]);
};

beforeAll(async () => {
  await findToolFile('promtool');
  folder = await mkdtemp(join(tmpdir(), 'cadastre-alerts-'));
  server = await startTestServer();
  alerts = await readAlerts();
  dashboards = await readDashboards();
  expressions = listExpressions();
  await readMetrics();
  valuesByLabel = await readLabelValues();
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const metricOf = (series: string): Metric | undefined => metrics.get(toMetricName(series, histograms));

describe('expressions of alerts and dashboards', () => {
  it('name metrics that the product exports', () => {
    const unexported = expressions.flatMap(({ at, text }) =>
      listSelectors(text).flatMap(({ metric }) => (metricOf(metric) ? [] : [`${at}: ${metric}`])),
    );
    expect(expressions.length).toBeGreaterThan(80);
    expect(unexported).toEqual([]);
    expect(expressions.filter(({ text }) => listSelectors(text).length === 0)).toEqual([]);
  });

  it('select series by labels that the metrics have', () => {
    const missing = expressions.flatMap(({ at, text }) =>
      listSelectors(text).flatMap(({ metric, matchers }) =>
        matchers
          .filter(({ label }) => ![...SCRAPE_LABELS, ...(metricOf(metric)?.labels ?? [])].includes(label))
          .map(({ label }) => `${at}: ${metric}{${label}}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('select series by values that the labels have', () => {
    const matchers = expressions.flatMap(({ at, text }) =>
      listSelectors(text).flatMap((selector) => selector.matchers.map((matcher) => ({ at, ...matcher }))),
    );
    const unmatched = matchers.filter(
      ({ label, operator, value }) =>
        label !== 'job' && !valuesByLabel.get(label)?.some((one) => matchesValue(operator, value, one)),
    );
    expect(unmatched).toEqual([]);
  });

  it('group by labels that the metrics have, and show only those', () => {
    const wrong = expressions.flatMap(({ at, text, legend }) => {
      const labels = listSelectors(text).flatMap(({ metric }) => metricOf(metric)?.labels ?? []);
      const available = [...labels, ...SCRAPE_LABELS];
      const groupingLabels = listGroupingLabels(text);
      const isAggregate = /\b(?:by|topk|max|sum|count|absent)\b/.test(text);
      const legendLabels = [...legend.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, label = '']) => label);
      return [
        ...groupingLabels.filter((label) => !available.includes(label)),
        ...legendLabels.filter((label) => !(isAggregate ? groupingLabels : available).includes(label)),
      ].map((label) => `${at}: ${label}`);
    });
    expect(wrong).toEqual([]);
  });

  it('have the syntax of PromQL', async () => {
    const rules = expressions.map(({ text }, index) => ({
      record: `panel:expression:${index}`,
      expr: text.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'),
    }));
    const file = join(folder, 'expressions.yml');
    await writeFile(file, stringify({ groups: [{ name: 'expressions', rules }] }));
    const { stdout, stderr } = await runTool('promtool', 'check', 'rules', file);
    expect([stderr, stdout]).toEqual(['', expect.stringContaining(`SUCCESS: ${expressions.length} rules found`)]);
  });
});

describe('the alerts', () => {
  it('fire for the series for which they should', async () => {
    const { code, stdout, stderr } = await runTool('promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml');
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toContain('SUCCESS');
  });

  it('have a test each', async () => {
    const { tests } = parse(await read('deploy/prometheus/alerts.test.yml'));
    const tested = new Set(
      tests.flatMap(({ alert_rule_test }: any) =>
        alert_rule_test.filter((one: any) => one.exp_alerts.length > 0).map((one: any) => one.alertname),
      ),
    );
    expect(alerts.map(({ alert }) => alert).filter((alert) => !tested.has(alert))).toEqual([]);
  });

  it('have a section each in the operations guide, and a severity', async () => {
    const page = await read('docs/how-to/operate.md');
    const sections = [...page.matchAll(/^### (Cadastre\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    expect(new Set(alerts.map(({ labels }) => labels.severity))).toEqual(new Set(['critical', 'warning']));
  });

  it('are read by the configuration of Prometheus for Compose', async () => {
    const { code, stdout } = await runTool('promtool', 'check', 'config', 'deploy/prometheus/prometheus.yml');
    expect(stdout).toContain(`SUCCESS: ${alerts.length} rules found`);
    expect(code).toBe(0);
  });
});

describe('the dashboards', () => {
  it('cover requests, the event log, followers, the audit trail and the registry', () => {
    expect(dashboards.map(({ uid, file }) => [uid, file]).toSorted()).toEqual(
      ['audit-trail', 'event-log', 'followers', 'registry', 'requests'].map((name) => [
        `cadastre-${name}`,
        `deploy/grafana/${name}.json`,
      ]),
    );
  });

  it('can be provisioned: they ask for no input and find their data source by a variable', () => {
    for (const dashboard of dashboards) {
      expect(dashboard).not.toHaveProperty('__inputs');
      expect(dashboard).not.toHaveProperty('id');
      expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job']);
      const sources = [...JSON.stringify(dashboard.panels).matchAll(/"uid":"([^"]*)"/g)].map(([, uid]) => uid);
      expect(new Set(sources)).toEqual(new Set(['${datasource}']));
    }
  });

  it('have panels that do not overlap, each with a description', () => {
    for (const { file, panels } of dashboards) {
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
      );
      expect({ file, cells: cells.length }).toEqual({ file, cells: new Set(cells).size });
      expect(panels.filter(({ type, description }) => type !== 'row' && !description)).toEqual([]);
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    }
  });
});
