import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { createReadStream, openAsBlob } from 'node:fs';
import { dirname, join } from 'node:path';
import { packArchive } from '../archives/pack-archive.js';
import { unpackArchive } from '../archives/unpack-archive.js';
import type { DocumentResult } from '../documents/document-task.js';
import type { PolicyReport } from '../api/executor-api.js';
import type { PhaseJob } from '../api/phase-job.js';
import { listParallelismOptions, withoutToolOptions } from './environment.js';
import { prepareBackend } from './phase-folder.js';
import {
  FailedCommandError,
  prepareTool,
  removeSshKey,
  runLogged,
  type PhaseContext,
  type PhaseEnd,
  type RunTool,
} from './phase-context.js';
import { chooseTool } from '../tools/tool-choice.js';
import { getReleasePlatform } from '../tools/tool-release.js';
import { describePolicyInput, evaluatePolicies } from './plan-policies.js';
import { RECORD_NAME, type RunRecord } from './run-record.js';

type ReadPlan = DocumentResult<'ReadPlan'>;

/** Returns the options of `terraform plan` for the options of a run. */
export const listPlanOptions = (job: PhaseJob, generatedFile: string): readonly string[] => [
  ...(job['structured-run-output-enabled'] ? ['-json'] : []),
  ...(job['is-destroy'] ? ['-destroy'] : []),
  ...(job['refresh-only'] ? ['-refresh-only'] : []),
  // Terraform refuses both together.
  ...(job.refresh || job['refresh-only'] ? [] : ['-refresh=false']),
  ...job['target-addrs'].map((address) => `-target=${address}`),
  ...job['replace-addrs'].map((address) => `-replace=${address}`),
  ...job['invoke-action-addrs'].map((address) => `-invoke=${address}`),
  ...(job['allow-config-generation'] ? [`-generate-config-out=${generatedFile}`] : []),
];

const downloadConfiguration = async ({ api, job, folder, stop, maxBytes }: PhaseContext): Promise<void> => {
  const url = job['configuration-download-url'];
  // The destruction of everything needs no configuration.
  if (url === null) return;
  const archive = join(folder.root, 'configuration.tar.gz');
  await api.download(url, job['run-token'], archive, stop.signal);
  await unpackArchive(createReadStream(archive), folder.tree, { maxBytes, acceptsOutsideLinks: false });
  await rm(archive);
};

/** Places the current state of the workspace where terraform expects it. */
export const downloadState = async ({ api, job, folder, stop }: PhaseContext): Promise<void> => {
  const url = job['state-download-url'];
  const file = folder.stateFile(job['workspace-name']);
  // Terraform selects only a workspace whose folder exists.
  await mkdir(dirname(file), { recursive: true });
  if (url !== null) await api.download(url, job['run-token'], file, stop.signal);
};

const hasFile = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Uploads the documents of the plan. Resolves to what the executor needs of them. */
const uploadDocuments = async (
  { api, claimed, documents, folder, job, stop }: PhaseContext,
  { runner, environment }: RunTool,
  planFile: string,
): Promise<ReadPlan> => {
  const locate = (name: string): string => join(folder.root, name);
  const schemasAndPlan = locate('schemas-and-plan');
  const [compressedSchemas, compressedPlan] = [locate('json-schema.gz'), locate('json-output.gz')];
  const commands = [
    ['providers', 'schema', '-json'],
    ['show', '-json', planFile],
  ];
  await runner.capture(commands, withoutToolOptions(environment), schemasAndPlan);
  const task = {
    type: 'ReadPlan',
    schemasAndPlan,
    compressedPlan,
    compressedSchemas,
    isRefreshOnly: job['refresh-only'],
    variables: job.variables.map(({ key }) => key),
    policyInput: job.policies.length > 0 ? describePolicyInput(job, folder) : null,
  } as const;
  const result = await documents.read(task, stop.signal);
  await api.uploadDocument(claimed, 'json-schema', await openAsBlob(compressedSchemas), stop.signal);
  await api.uploadDocument(claimed, 'json-output', await openAsBlob(compressedPlan), stop.signal);
  return result;
};

const PROVIDERS = /(?:^|\/)\.terraform\/providers$/;

/** Uploads what the apply needs: the configuration with all files that the plan made, but without providers. */
const uploadPlanFile = async ({ api, claimed, folder, stop }: PhaseContext, record: RunRecord): Promise<void> => {
  const recordFile = join(folder.root, RECORD_NAME);
  await writeFile(recordFile, JSON.stringify(record), { mode: 0o600 });
  const archive = join(folder.root, 'plan.tar.gz');
  const sources = [
    { name: RECORD_NAME, path: recordFile },
    { name: 'plan', path: join(folder.space, 'plan') },
    { name: 'tree', path: folder.tree },
  ];
  await packArchive(sources, archive, (name) => PROVIDERS.test(name));
  await api.uploadPlanFile(claimed, await openAsBlob(archive), stop.signal);
};

const toReport = (
  { assessed, counts, hasChanges, hasGeneratedConfiguration }: ReadPlan,
  policyResults: readonly PolicyReport[],
): PhaseEnd => ({
  status: 'planned',
  'has-changes': hasChanges,
  'generated-configuration': hasGeneratedConfiguration,
  'resource-additions': counts.additions,
  'resource-changes': counts.changes,
  'resource-destructions': counts.destructions,
  'resource-imports': counts.imports,
  ...(assessed
    ? {
        'resources-drifted': assessed.resourcesDrifted,
        'resources-undrifted': assessed.resourcesUndrifted,
        'checks-passed': assessed.checks.pass,
        'checks-failed': assessed.checks.fail,
        'checks-errored': assessed.checks.error,
        'checks-unknown': assessed.checks.unknown,
      }
    : {}),
  ...(policyResults.length > 0 ? { 'policy-results': policyResults } : {}),
});

/** Plans a run. Resolves to the report of a plan that succeeded. */
export const executePlan = async (context: PhaseContext): Promise<PhaseEnd> => {
  const { job, folder, log, claimed, tools } = context;
  await downloadConfiguration(context);
  const tool = await tools.find(chooseTool(job), job['terraform-version'], job['terraform-version-archives']);
  // Before the commands, which can take an hour: the operator may replace the program meanwhile.
  const checksum = await tools.readChecksum(tool);
  const warning = job['terraform-version-warning'];
  if (warning) log.writeLines(`Warning: ${warning}`);
  log.writeLines(`${tool.name === 'tofu' ? 'OpenTofu' : 'Terraform'} v${tool.version}`, `on ${getReleasePlatform()}`);
  const prepared = await prepareTool(context, tool, job.variables);
  const { runner, environment, initEnvironment, variableOptions, sandboxed, workingDirectory } = prepared;
  await prepareBackend(workingDirectory, sandboxed.space);
  await downloadState(context);
  await runLogged(context, runner, { parameters: ['init', '-input=false', '-no-color'], environment: initEnvironment });
  await removeSshKey(context);
  const options = [...listPlanOptions(job, join(sandboxed.space, 'tmp', 'generated.tf')), ...variableOptions];
  const parameters = ['plan', '-input=false', `-out=${sandboxed.plan}`, ...listParallelismOptions(job), ...options];
  try {
    await runLogged(context, runner, { parameters, environment });
  } catch (error) {
    // The plan of a failed command shows what is wrong, such as generated configuration.
    if (!(error instanceof FailedCommandError) || !(await hasFile(folder.plan))) throw error;
    const plan = await uploadDocuments(context, prepared, sandboxed.plan).catch(() => null);
    throw new FailedCommandError(error.message, plan?.hasGeneratedConfiguration);
  }
  const plan = await uploadDocuments(context, prepared, sandboxed.plan);
  if (!claimed.isPlanOnly) {
    const declared = new Set(plan.declaredVariables);
    const variables = job.variables.filter(({ key }) => declared.has(key));
    const { name, version } = tool;
    await uploadPlanFile(context, { tool: name, version, checksum, space: sandboxed.space, variables });
  }
  return toReport(plan, await evaluatePolicies(context, plan.sensitiveValues));
};
