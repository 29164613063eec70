import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../support/folders.js';

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

describe('the file of Compose', () => {
  type ComposeService = {
    readonly profiles?: readonly string[];
    readonly volumes?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  };
  let services: Readonly<Record<string, ComposeService>>;

  beforeAll(async () => {
    services = parse(await read('docker-compose.yml'), { merge: true }).services;
  });

  it('starts Prometheus, Grafana and Jaeger only with the profile observe', () => {
    const observing = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('observe'));
    expect(observing.map(([name]) => name)).toEqual(['prometheus', 'grafana', 'jaeger']);
  });

  it('mounts only files that exist', async () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const files = mounts.flatMap((mount) => (mount.startsWith('./') ? [mount.split(':')[0] ?? ''] : []));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) await expect(stat(join(ROOT, file))).resolves.toBeDefined();
  });

  it('lets Prometheus scrape the processes, and Grafana read its dashboards', async () => {
    const { scrape_configs: jobs } = parse(await read('deploy/prometheus/prometheus.yml'));
    const targets = jobs.flatMap(({ static_configs: [{ targets: some }] }: any) => some);
    expect(targets).toEqual(['gateway:8443', 'projector:8443', 'publisher:8443']);
    for (const target of targets) expect(services).toHaveProperty(target.split(':')[0]);
    const { providers } = parse(await read('deploy/grafana/provisioning/dashboards/cadastre.yml'));
    expect(services['grafana']?.volumes).toContain(`./deploy/grafana:${providers[0].options.path}:ro`);
    const { datasources } = parse(await read('deploy/grafana/provisioning/datasources/cadastre.yml'));
    expect(datasources[0].url).toBe('http://prometheus:9090');
  });
});
