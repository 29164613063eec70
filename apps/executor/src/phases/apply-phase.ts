import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gte } from 'semver';
import { unpackArchive } from '../archives/unpack-archive.js';
import { RunError } from '../executor-error.js';
import { parseAppliedCounts, type ChangeCounts } from '../output/change-counts.js';
import { finishState } from './finish-state.js';
import { listParallelismOptions, withoutUpgrades } from './environment.js';
import {
  prepareTool,
  removeSshKey,
  runLogged,
  type PhaseContext,
  type PhaseEnd,
  type RunTool,
} from './phase-context.js';
import { downloadState } from './plan-phase.js';
import { parseRunRecord, RECORD_NAME, type RunRecord } from './run-record.js';
import { AppliedState } from './applied-state.js';
import { getReleasePlatform } from '../tools/tool-release.js';
import type { IacTool } from '../tools/tool-finder.js';

const restorePlan = async ({ api, job, folder, stop, maxBytes }: PhaseContext): Promise<RunRecord> => {
  const url = job['plan-file-url'];
  if (url === null) throw new RunError('The server has no plan file for this run.');
  const archive = join(folder.root, 'plan.tar.gz');
  await api.downloadPlanFile(url, archive, stop.signal);
  await unpackArchive(createReadStream(archive), folder.space, { maxBytes, acceptsOutsideLinks: true });
  await rm(archive);
  const record = join(folder.space, RECORD_NAME);
  const content = await readFile(record, 'utf8');
  await rm(record);
  return parseRunRecord(content);
};

/** Resolves to the program of the plan. Another build of its version could read the plan in another way. */
const findPlannedTool = async ({ job, tools }: PhaseContext, record: RunRecord): Promise<IacTool> => {
  const { tool: name, version, checksum } = record;
  const tool = await tools.find(name, version, job['terraform-version-archives'], checksum);
  if (tool.version !== version)
    throw new RunError(`The plan was made with ${name} ${version}, but this executor has ${tool.version}.`);
  const actual = checksum === null ? null : await tools.readChecksum(tool);
  if (actual === checksum) return tool;
  throw new RunError(
    `The plan was made with another build of ${name} ${version}: its program has the SHA-256 ${checksum}, and the one of this ` +
      `executor ${actual}. Executors of one pool need the same build and the same processor architecture. Start a new run.`,
  );
};

/** From this version on, terraform must get the values of ephemeral variables again. Earlier ones refuse any value. */
const acceptsVariables = ({ name, version }: IacTool): boolean => name === 'terraform' && gte(version, '1.10.0');

const requireSamePath = ({ space }: RunRecord, seenSpace: string): void => {
  if (space === seenSpace) return;
  throw new RunError(
    `The plan was made in the folder ${space}, but this executor runs it in ${seenSpace}. Executors of one pool need the ` +
      'same sandbox setting and, without a sandbox, the same work folder.',
  );
};

/** Installs the providers of the plan again. Its output is of interest only if it fails. */
const installProviders = async (context: PhaseContext, { runner, initEnvironment }: RunTool): Promise<void> => {
  const lines: string[] = [];
  const sink = (): ReturnType<PhaseContext['log']['createSink']> => {
    const chunks: Buffer[] = [];
    return {
      push: (chunk) => void chunks.push(chunk),
      end: () => void lines.push(Buffer.concat(chunks).toString()),
    };
  };
  const parameters = ['init', '-input=false', '-no-color', '-lockfile=readonly'];
  try {
    await runLogged(context, runner, { parameters, environment: withoutUpgrades(initEnvironment) }, sink);
  } catch (error) {
    context.log.writeLines(...lines);
    throw error;
  }
};

const createAppliedState = ({ api, job, folder, documents, stop, logger }: PhaseContext): AppliedState =>
  new AppliedState({
    folder: folder.space,
    path: folder.stateFile(job['workspace-name']),
    copy: folder.stateCopy,
    documents,
    intervalMs: job['snapshot-interval-seconds'] * 1_000,
    upload: (state) => api.uploadState(job['workspace-id'], job['run-token'], state, stop.signal),
    logger,
  });

const toReport = (counts: ChangeCounts): PhaseEnd => ({
  status: 'applied',
  'resource-additions': counts.additions,
  'resource-changes': counts.changes,
  'resource-destructions': counts.destructions,
  'resource-imports': counts.imports,
});

const listApplyOptions = (job: PhaseContext['job']): readonly string[] => [
  ...(job['structured-run-output-enabled'] ? ['-json'] : []),
  ...listParallelismOptions(job),
];

/** Applies a planned run. Resolves to the report of an apply that succeeded. */
export const executeApply = async (context: PhaseContext): Promise<PhaseEnd> => {
  const { job, folder, log } = context;
  const record = await restorePlan(context);
  const tool = await findPlannedTool(context, record);
  // Clients do not show the first three lines of an apply.
  log.writeLines(
    `${tool.name} v${tool.version}`,
    `on ${getReleasePlatform()}`,
    'Initializing providers and modules...',
  );
  const prepared = await prepareTool(context, tool, acceptsVariables(tool) ? record.variables : []);
  const { runner, environment, variableOptions, sandboxed } = prepared;
  requireSamePath(record, sandboxed.space);
  await downloadState(context);
  await installProviders(context, prepared);
  await removeSshKey(context);
  const uploads = createAppliedState(context);
  await uploads.start();
  await folder.writeRecord({ ...context.claimed, nonce: context.nonce, appliedWorkspace: job['workspace-name'] });
  const counts = { additions: 0, changes: 0, destructions: 0, imports: 0 };
  const observe = (line: string): void => void Object.assign(counts, parseAppliedCounts(line));
  const options = [...listApplyOptions(job), ...variableOptions];
  const parameters = ['apply', '-input=false', ...options, sandboxed.plan];
  const ended = new AbortController();
  const watching = uploads.watch(ended.signal);
  try {
    await runLogged(context, runner, { parameters, environment }, () => log.createSink(observe));
  } finally {
    ended.abort();
    await watching;
    await finishState(context, uploads);
  }
  return toReport(counts);
};
