import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { listCertificateNames } from '../../libs/platform/host/certificates/local-ca.js';
import { ROOT } from '../support/folders.js';

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

describe('the file of Compose', () => {
  type ComposeService = {
    readonly profiles?: readonly string[];
    readonly volumes?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly build?: { readonly target?: string };
    readonly hostname?: string;
  };
  let services: Readonly<Record<string, ComposeService>>;

  beforeAll(async () => {
    services = parse(await read('docker-compose.yml'), { merge: true }).services;
  });

  it('starts Prometheus, Grafana and Jaeger only with the profile observe', () => {
    const observing = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('observe'));
    expect(observing.map(([name]) => name)).toEqual(['prometheus', 'grafana', 'jaeger']);
  });

  it('starts an executor only with the profile execute, and gives it no secret of the server', () => {
    const { profiles, environment = {}, volumes } = services['executor'] ?? {};
    expect(profiles).toEqual(['execute']);
    // Not the folder of the gateway, which has the private key of the local CA.
    expect(volumes).toEqual(['executor:/work', 'authority:/authority:ro']);
    expect(services['authority']).toMatchObject({
      profiles: ['execute'],
      volumes: ['gateway:/gateway:ro', 'authority:/authority'],
    });
    expect(Object.keys(environment).toSorted()).toEqual([
      'CADASTRE_EXECUTOR_CAPACITY',
      'CADASTRE_EXECUTOR_GRACE',
      'CADASTRE_EXECUTOR_TOKEN',
      'CADASTRE_SERVER',
      'CADASTRE_TOOL_MIRROR',
      'SSL_CERT_FILE',
    ]);
  });

  it('gives the executor a network of its own, and an address that the certificate of the gateway has', () => {
    const { environment = {} } = services['executor'] ?? {};
    expect(services['executor']).not.toHaveProperty('network_mode');
    const address = 'https://gateway:8443';
    expect(environment['CADASTRE_SERVER']).toBe(`\${CADASTRE_EXECUTOR_SERVER:-${address}}`);
    const hostname = services['gateway']?.hostname;
    expect(listCertificateNames('0.0.0.0', 'https://localhost:8443', hostname)).toContain(new URL(address).hostname);
  });

  it('builds images that the Dockerfile has', async () => {
    const dockerfile = await read('deploy/Dockerfile');
    const targets = Object.values(services).flatMap(({ build }) => build?.target ?? []);
    expect(targets).toEqual(['executor']);
    for (const target of targets) expect(dockerfile).toMatch(new RegExp(`^FROM product AS ${target}$`, 'm'));
    // Without a target, Docker builds the last image of the file.
    expect(dockerfile.match(/^FROM .*$/gm)?.at(-1)).toBe('FROM product AS server');
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
