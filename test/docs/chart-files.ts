import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from '../support/folders.js';

/** A chart contains no files from outside of its folder, and many tools refuse links. */
const COPIED = '# A copy that `npm run docs` makes. Changes made here are overwritten.\n';

const readDashboards = async (): Promise<Record<string, string>> => {
  const dashboards: Record<string, string> = {};
  for await (const file of glob('deploy/grafana/*.json', { cwd: ROOT })) {
    const dashboard: unknown = JSON.parse(await readFile(join(ROOT, file), 'utf8'));
    dashboards[`cadastre-${basename(file)}`] = JSON.stringify(dashboard);
  }
  return Object.fromEntries(Object.entries(dashboards).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** Returns the files of the Helm chart that are copies: alerts, and dashboards as JSON texts by their name. */
export const copyChartFiles = async (): Promise<readonly (readonly [path: string, text: string])[]> => {
  const alerts = await readFile(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8');
  const dashboards = stringify(await readDashboards(), { lineWidth: 0, singleQuote: true });
  const folder = '../../deploy/helm/cadastre/files';
  return [
    [`${folder}/alerts.yml`, COPIED + alerts],
    [`${folder}/dashboards.yml`, COPIED + dashboards],
  ];
};
