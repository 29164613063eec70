import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ensureLocalCertificates, SystemClock } from '#platform/host';
import { listSettingWarnings, parseSettings } from '#platform/settings';
import { parseExecutorSettings } from '../../apps/executor/src/settings.js';
import { routes } from '../docs/routes.js';
import { ROOT } from '../support/folders.js';
import {
  CHART,
  EXAMPLES,
  listExecutorPods,
  listPods,
  listProductPods,
  renderManifests,
  templateChart,
  toValuesFile,
  type Example,
  type Manifest,
  type Pod,
} from './chart.js';
import { toSchemaLocation, writeKubernetesSchemas } from './kubernetes-schemas.js';
import { INSTALL_TIMEOUT_MS, findToolFile, runTool } from './tools.js';

const manifests = new Map<Example, Manifest[]>();
let folder: string;

beforeAll(async () => {
  await findToolFile('helm');
  folder = await mkdtemp(join(tmpdir(), 'cadastre-chart-'));
  for (const example of EXAMPLES) manifests.set(example, await renderManifests(example));
  const kinds = new Set([...manifests.values()].flat().map(({ kind }) => kind));
  await writeKubernetesSchemas(folder, kinds);
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const get = (example: Example): Manifest[] => manifests.get(example) ?? [];

const find = (example: Example, kind: string, name: string): Manifest | undefined =>
  get(example).find((manifest) => manifest.kind === kind && manifest.metadata.name === name);

/** Returns the specification of a manifest. Throws if the chart does not render it. */
const getSpec = (manifest: Manifest | undefined): Manifest['spec'] => {
  if (!manifest) throw new Error('the chart does not render this manifest');
  return manifest['spec'];
};

const validate = async (name: string, content: string) => {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, content);
  return runTool('kubeconform', '-strict', '-summary', '-schema-location', toSchemaLocation(folder), file);
};

describe('the chart', () => {
  it('has the version of the product', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const chart = parse(await readFile(join(ROOT, CHART, 'Chart.yaml'), 'utf8'));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });

  it.each(EXAMPLES)('passes the lint of Helm with the values %s', async (example) => {
    const { code, stdout } = await runTool('helm', 'lint', '--strict', CHART, '--values', toValuesFile(example));
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(code).toBe(0);
  });

  it.each(EXAMPLES)('fits the schemas of Kubernetes with the values %s', async (example) => {
    const { stdout } = await validate(example, (await templateChart(example)).stdout);
    expect(stdout).toMatch(/Summary: \d+ resources found in 1 file - Valid: \d+, Invalid: 0, Errors: 0, Skipped: 0/);
  });

  it('does not fit the schemas of Kubernetes with a member that does not exist', async () => {
    const { stdout } = await templateChart('minimal');
    const wrong = stdout.replace('automountServiceAccountToken:', 'automountServiceAccountTokens:');
    expect((await validate('wrong', wrong)).code).toBe(1);
  });

  it.each([
    ['gateway.replica=3', 'gateway'],
    ['publicUrl=cadastre.example.com', 'publicUrl'],
    ['existingSecret=', 'existingSecret'],
    ['settings.PORT=1', 'PORT'],
    ['settings.KAFKA_TLS=on', 'KAFKA_TLS'],
    ['settings.CADASTRE_OIDC_NAME=Acme', 'CADASTRE_OIDC_NAME'],
    ['settings.CADASTRE_SMTP_FROM=a@b.example', 'CADASTRE_SMTP_FROM'],
    ['oidc.issuer=https://id.example.com', 'oidc.clientId is missing'],
    ['settings.OTEL_TRACES_SAMPLER=always_off', 'OTEL_TRACES_SAMPLER'],
    ['tracing.endpoint=collector:4318', 'endpoint'],
    ['gateway.autoscaling.targetCpuUtilization=170', 'targetCpuUtilization'],
    ['settings.CADASTRE_VAULT_ROLE=a', 'CADASTRE_VAULT_ROLE'],
    ['timeStamps.url=https://tsa.example.com', 'timeStamps.ca is missing'],
    ['vault.address=https://vault.example.com', 'vault.role is missing'],
    ['vault.address=https://vault.example.com,vault.auth=token', 'vault.existingSecret is missing'],
    ['executor.enabled=true', 'executor.existingSecret is missing'],
    ['executor.enabled=true,executor.existingSecret=a,publicUrl=http://a.example.com', 'executor.server is missing'],
    ['executor.accept={assessment}', 'accept'],
    ['files.s3.bucket=a,files.trial.enabled=true', 'files.s3.bucket and files.trial.enabled are both set'],
    ['kafka.brokers={a:1},kafka.trial.enabled=true', 'kafka.brokers and kafka.trial.enabled are both set'],
  ])('refuses the value %s and names it', async (set, name) => {
    const { code, stderr } = await templateChart('minimal', [set]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(name);
  });
});

/** The sandbox of runs creates namespaces, which only user namespaces of the pod and another profile of seccomp permit. */
const isConfined = ({ spec: { securityContext: pod, ...spec } }: Pod): boolean =>
  spec.containers[0].name === 'executor'
    ? pod.seccompProfile.type === 'Unconfined' &&
      pod.appArmorProfile.type === 'Unconfined' &&
      spec['hostUsers'] === false
    : pod.seccompProfile.type === 'RuntimeDefault';

const isHardened = ({ name, spec: { securityContext: pod, ...spec } }: Pod, isReadOnly: boolean): boolean =>
  isConfined({ name, spec: { securityContext: pod, ...spec } }) &&
  spec['automountServiceAccountToken'] === false &&
  pod.runAsNonRoot === true &&
  [...spec.containers, ...(spec.initContainers ?? [])].every(
    ({ securityContext, resources }) =>
      (securityContext.readOnlyRootFilesystem === true || !isReadOnly) &&
      securityContext.allowPrivilegeEscalation === false &&
      securityContext.capabilities.drop.includes('ALL') &&
      resources.requests.cpu !== undefined &&
      resources.limits.memory !== undefined,
  );

describe('pods of the chart', () => {
  it.each(EXAMPLES)('run without privileges and with limits, with the values %s', (example) => {
    expect(listPods(get(example)).filter((pod) => !isHardened(pod, false))).toEqual([]);
    const pods = [...listProductPods(get(example)), ...listExecutorPods(get(example))];
    expect(pods.filter((pod) => !isHardened(pod, true))).toEqual([]);
  });

  it.each([
    ['minimal', ['gateway', 'projector', 'migration']],
    ['production', ['gateway', 'projector', 'publisher', 'migration']],
  ] as const)('run the processes of a site with the values %s', (example, processes) => {
    const pods = listProductPods(get(example)).map(({ name }) => name);
    expect(pods.toSorted()).toEqual(processes.map((process) => `site-cadastre-${process}`).toSorted());
  });

  it.each(EXAMPLES)('get settings that the product accepts, with the values %s', async (example) => {
    for (const { name, spec } of listProductPods(get(example))) {
      const [container] = spec.containers;
      const env = await toEnvironment(container.env);
      const { lines, settings } = parseSettings(env);
      const kind = container.args[0] === 'gateway' ? 'gateway' : 'projector';
      const warnings = listSettingWarnings(env, settings, kind);
      expect({ name, lines, warnings }).toEqual({ name, lines: [], warnings: [] });
    }
  });

  it.each(EXAMPLES)('mount every file and folder that their settings name, with the values %s', (example) => {
    for (const { spec } of listProductPods(get(example))) {
      const [container] = spec.containers;
      const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
      const paths = container.env.flatMap(({ value = '' }) => (value.startsWith('/') ? [value] : []));
      expect(paths.filter((path) => !mounts.some((mount) => `${path}/`.startsWith(`${mount}/`)))).toEqual([]);
      expect(spec['volumes'].map((volume: { name: string }) => volume.name)).toEqual(
        container.volumeMounts.map(({ name }) => name),
      );
    }
  });
});

const SAMPLE_SECRETS: Readonly<Record<string, string>> = {
  'encryption-key': Buffer.alloc(32, 7).toString('base64'),
  'admin-token': 'x'.repeat(32),
  'smtp-url': 'smtp://cadastre:secret@mail.example.com',
  'database-url': 'postgresql://cadastre:secret@postgres.example.com:5432/cadastre',
};

/** Returns the environment of a container. Names of mounted files lead to files with sample content. */
const toEnvironment = async (
  variables: readonly { readonly name: string; readonly value?: string }[],
): Promise<Record<string, string>> => {
  const { key, cert } = await ensureLocalCertificates(join(folder, 'tls'), ['localhost'], new SystemClock());
  const contents: Record<string, string> = {
    'tls.key': key,
    'tls.crt': cert,
    'ca.crt': cert,
    'ca.pem': cert,
    ...SAMPLE_SECRETS,
  };
  const env: Record<string, string> = {};
  for (const { name, value = 'secret' } of variables) {
    const [, file] = /^\/(?:secrets|tls|kafka-tls|vault|time-stamps)\/(.*)$/.exec(value) ?? [];
    env[name] = file === undefined ? value.replaceAll('$(POSTGRES_PASSWORD)', 'secret') : join(folder, file);
    if (file !== undefined) await writeFile(join(folder, file), contents[file] ?? 'secret');
  }
  return env;
};

describe('executors of the chart', () => {
  const findSet = () => find('production', 'StatefulSet', 'site-cadastre-executor');

  it('run only if they are enabled', () => {
    expect(findSet()).toBeDefined();
    expect(find('minimal', 'StatefulSet', 'site-cadastre-executor')).toBeUndefined();
    expect(find('minimal', 'NetworkPolicy', 'site-cadastre-executor')).toBeUndefined();
  });

  it('are refused for a cluster without user namespaces', async () => {
    const { code, stderr } = await templateChart('production', [], '1.32.9-gke.100');
    expect([code, stderr]).toEqual([1, expect.stringContaining('this cluster has v1.32.9')]);
  });

  it('have memory for the processes and the temporary folders of all runs at a time', () => {
    const [pod] = listExecutorPods(get('production'));
    const container = pod?.spec.containers[0];
    const mib = Number(container?.env.find(({ name }) => name === 'CADASTRE_EXECUTOR_MEMORY_MIB')?.value);
    expect(Number(/^(\d+)Gi$/.exec(container?.['resources'].limits.memory)?.[1]) * 1024).toBeGreaterThanOrEqual(
      2 * (mib + 2048) + 256,
    );
  });

  it('get settings that the executor accepts', async () => {
    const [pod] = listExecutorPods(get('production'));
    const env = new Map(pod?.spec.containers[0].env.map(({ name, value = '' }) => [name, value]));
    const read = (name: string): string => env.get(`CADASTRE_${name}`) ?? '';
    const settings = parseExecutorSettings({
      server: read('SERVER'),
      capacity: read('EXECUTOR_CAPACITY'),
      accept: read('EXECUTOR_ACCEPT'),
      work: read('EXECUTOR_WORK'),
      toolMirror: read('TOOL_MIRROR'),
      toolSignatures: 'required',
      sandbox: 'on',
      memoryMib: read('EXECUTOR_MEMORY_MIB'),
      diskMib: read('EXECUTOR_DISK_MIB'),
      permittedHosts: read('EXECUTOR_PERMITTED_HOSTS'),
      grace: read('EXECUTOR_GRACE'),
    });
    expect(settings).toMatchObject({ capacity: 2, phases: ['plan', 'apply'], permittedHosts: ['10.0.0.53'] });
    expect(settings.server.host).toBe('cadastre.example.com');
    const documented = await readFile(join(ROOT, 'docs/reference/command-line.md'), 'utf8');
    expect([...env.keys()].filter((name) => !documented.includes(name))).toEqual([]);
    expect(pod?.spec['terminationGracePeriodSeconds']).toBe(settings.graceSeconds + 900);
  });

  it('keep their work folder in a volume, and see no secret of the server', () => {
    const { template, volumeClaimTemplates } = getSpec(findSet());
    const [{ volumeMounts }] = template.spec.containers;
    const names = [...template.spec.volumes, ...volumeClaimTemplates.map(({ metadata }: Manifest) => metadata)];
    expect(volumeMounts.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      names.map(({ name }: { name: string }) => name).toSorted(),
    );
    expect(JSON.stringify(template)).not.toContain('cadastre-secrets');
    expect(template.spec.serviceAccountName).toBe('executors');
  });

  it('reach gateways and public addresses, but not the networks that are blocked', () => {
    const { policyTypes, ingress, egress } = getSpec(find('production', 'NetworkPolicy', 'site-cadastre-executor'));
    expect([policyTypes, ingress]).toEqual([['Ingress', 'Egress'], undefined]);
    expect(egress.at(-1).to).toEqual([
      { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '10.20.0.0/16'] } },
      { ipBlock: { cidr: '::/0', except: ['fe80::/10'] } },
    ]);
  });
});

describe('the volume with the credential for Vault', () => {
  const findSources = (example: Example): unknown =>
    listProductPods(get(example))[0]?.spec['volumes'].find(({ name }: { name: string }) => name === 'vault')?.projected
      .sources;

  it('contains a token of the service account for Vault only, or the keys of a secret', () => {
    const token = { path: 'credential', audience: 'vault', expirationSeconds: 600 };
    expect(findSources('production')).toEqual([{ serviceAccountToken: token }]);
    const items = ['credential', 'ca.crt'].map((key) => ({ key, path: key }));
    expect(findSources('tls')).toEqual([{ secret: { name: 'cadastre-vault', items } }]);
    expect(findSources('minimal')).toBeUndefined();
  });
});

describe('the ingress of the chart', () => {
  type IngressPath = { readonly path: string; readonly pathType: 'Exact' | 'Prefix' };
  const listPaths = (): IngressPath[] => find('production', 'Ingress', 'site-cadastre')?.['spec'].rules[0].http.paths;
  const reaches = ({ path, pathType }: IngressPath, route: string): boolean =>
    pathType === 'Exact' ? route === path : `${route}/`.startsWith(`${path}/`);

  it('leads to every route for clients', async () => {
    const paths = listPaths();
    const unreached = (await routes()).filter(({ path }) => !paths.some((rule) => reaches(rule, path)));
    expect(unreached.map(({ path }) => path).toSorted()).toEqual(['/healthz', '/metrics', '/readyz']);
  });
});

describe('the migration of the chart', () => {
  it.each([
    ['production', 'pre-install,pre-upgrade'],
    ['trial', 'post-install,pre-upgrade'],
  ] as const)('runs when its database exists, with the values %s', (example, hooks) => {
    const job = find(example, 'Job', 'site-cadastre-migration');
    expect(job?.metadata.annotations?.['helm.sh/hook']).toBe(hooks);
  });
});

describe('objects of the chart', () => {
  it('select pods that exist', () => {
    for (const example of EXAMPLES) {
      const labels = get(example).flatMap((manifest) => manifest['spec']?.template?.metadata?.labels ?? []);
      const selectors = get(example).flatMap(({ kind, spec }) =>
        [kind === 'Service' ? spec.selector : (spec?.podSelector ?? spec?.selector)?.matchLabels].filter(Boolean),
      );
      const selectsNothing = (selector: Record<string, string>): boolean =>
        !labels.some((pod: Record<string, string>) =>
          Object.entries(selector).every(([key, value]) => pod[key] === value),
        );
      expect(selectors.length).toBeGreaterThan(5);
      // A ServiceMonitor selects services of several components.
      expect(selectors.filter((selector) => selector['app.kubernetes.io/component']).filter(selectsNothing)).toEqual(
        [],
      );
    }
  });

  it('scale gateways by load, or have a fixed number of them', () => {
    expect(find('production', 'HorizontalPodAutoscaler', 'site-cadastre-gateway')?.['spec']).toMatchObject({
      minReplicas: 2,
      maxReplicas: 5,
    });
    expect(find('production', 'Deployment', 'site-cadastre-gateway')?.['spec'].replicas).toBeUndefined();
    expect(find('tls', 'HorizontalPodAutoscaler', 'site-cadastre-gateway')).toBeUndefined();
    expect(find('tls', 'Deployment', 'site-cadastre-gateway')?.['spec'].replicas).toBe(3);
  });

  it('keep the volume with the files of all workspaces when the release is uninstalled', () => {
    const claim = find('minimal', 'PersistentVolumeClaim', 'site-cadastre-files');
    expect(claim?.metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
  });

  it('let publishers connect to the ports of the brokers', () => {
    const { egress } = find('production', 'NetworkPolicy', 'site-cadastre-publisher')?.['spec'] ?? {};
    expect(egress.flatMap(({ ports = [] }) => ports.map(({ port }: { port: number }) => port))).toEqual([
      53, 53, 5432, 443, 9094, 4318, 8200,
    ]);
  });

  it.each(['gateway', 'projector'])('let a %s connect to the port of the mail server', (component) => {
    const { egress } = find('production', 'NetworkPolicy', `site-cadastre-${component}`)?.['spec'] ?? {};
    expect(JSON.stringify(egress)).toContain('{"port":587}');
  });

  it.each([
    ['https://traces.example.com/otlp', 443],
    ['http://collector', 80],
  ])('let all processes connect to the collector at %s, port %i', async (endpoint, port) => {
    const rendered = await renderManifests('minimal', [`tracing.endpoint=${endpoint}`]);
    const policies = rendered.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies.length).toBeGreaterThan(1);
    for (const { spec } of policies as any[]) expect(JSON.stringify(spec.egress)).toContain(`{"port":${port}}`);
  });
});
