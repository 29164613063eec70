import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ProgramResult } from './run-program.js';
import { runTool } from './tools.js';

export const CHART = 'deploy/helm/cadastre';
/** The values with which the chart is checked. */
export const EXAMPLES = ['minimal', 'production', 'tls', 'trial'] as const;
export type Example = (typeof EXAMPLES)[number];

const RELEASE = 'site';
/** Without a cluster, Helm assumes a version that the chart does not support. */
const KUBERNETES_VERSION = '1.37.0';

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [member: string]: any;
};

export const toValuesFile = (example: Example): string => join(CHART, 'ci', `${example}-values.yaml`);

/** Runs `helm template`. `sets` are values such as `gateway.replicas=3`. */
export const templateChart = (
  example: Example,
  sets: readonly string[] = [],
  kubernetesVersion = KUBERNETES_VERSION,
): Promise<ProgramResult> =>
  runTool(
    'helm',
    'template',
    RELEASE,
    CHART,
    '--kube-version',
    kubernetesVersion,
    '--values',
    toValuesFile(example),
    ...sets.flatMap((set) => ['--set', set]),
  );

/** Returns the manifests that Helm would send to a cluster. */
export const renderManifests = async (example: Example, sets: readonly string[] = []): Promise<Manifest[]> => {
  const { code, stdout, stderr } = await templateChart(example, sets);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
};

type Container = {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [member: string]: any;
};

export type Pod = {
  readonly name: string;
  readonly spec: {
    readonly containers: readonly [Container];
    readonly initContainers?: readonly Container[];
    readonly [member: string]: any;
  };
};

/** Returns the pods of the workloads among the manifests. */
export const listPods = (manifests: readonly Manifest[]): Pod[] =>
  manifests.flatMap(({ metadata: { name }, ...manifest }) => {
    const spec = manifest['spec']?.template?.spec as Pod['spec'] | undefined;
    return spec ? [{ name, spec }] : [];
  });

/** Returns the pods of Cadastre itself, without servers for trials. */
export const listProductPods = (manifests: readonly Manifest[]): Pod[] =>
  listPods(manifests).filter(({ spec }) => spec.containers.every(({ image }) => /(^|\/)cadastre:/.test(image)));

/** Returns the pods of executors, which have an image of their own. */
export const listExecutorPods = (manifests: readonly Manifest[]): Pod[] =>
  listPods(manifests).filter(({ spec }) =>
    spec.containers.every(({ image }) => /(^|\/)cadastre-executor:/.test(image)),
  );
