import { checkQuota, unprocessable, type DataOf, type Ids, type Quotas } from '#platform/kernel';
import { decideWrite, expectVersion, getFirstRow, newStream, type EventStore } from '#storage/event-store';
import { createEventContext, requirePermission, can, toActingPrincipal, type Actor } from '#api/access';
import { loadWorkspaceLock, type ToolReleases } from '#workspaces/workspaces';
import type { JobValuesStore } from '../job-values/job-values.service.js';
import { DEFAULT_OPTIONS } from './run-options.js';
import { needsWorkspaceLock, waitsForWorkspace } from './run-state.js';
import { createStageCommands } from './new-task-stages.ids.js';
import { run, type RunCommand } from './run.js';
import type { RunVariables } from './runs.variables.js';
import { getNewState } from './change-run.operation.js';
import type { NewRun, RunOperations } from './runs.commands.js';
import {
  loadWorkspaceForNewRun,
  selectRunById,
  type ConfigurationForRun,
  type WorkspaceForNewRun,
  type RunRow,
} from './runs.queries.js';

type RunCreationDependencies = {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly variables: RunVariables;
  readonly values: JobValuesStore;
  readonly releases: ToolReleases;
  readonly quotas: Quotas;
};

/** Accepts releases that the server does not know yet, because clients name the release that they are. */
const checkVersion = (version: string | undefined, planOnly: boolean, releases: ToolReleases): void => {
  if (version === undefined) return;
  if (!planOnly) throw unprocessable('Terraform version is only valid for plan-only runs', 'terraform-version');
  const problem = releases.problemOf(version, version);
  if (problem !== null) throw unprocessable(`Terraform version ${problem}`, 'terraform-version');
};

const toCreateRun = (
  { options, message, source, workspace, variables }: NewRun,
  row: WorkspaceForNewRun,
  configuration: ConfigurationForRun,
  actor: Actor,
  builtInReleases: ToolReleases,
): DataOf<RunCommand, 'CreateRun'> => {
  const planOnly = options.planOnly ?? configuration.speculative;
  if (configuration.speculative && !planOnly) {
    throw unprocessable('Plan only must be true, for the configuration version is speculative', 'plan-only');
  }
  const releases = builtInReleases.with(row.siteReleases);
  checkVersion(options.terraformVersion, planOnly, releases);
  const isDestroy = options.isDestroy ?? false;
  if (isDestroy && !row.allowDestroyPlan) {
    throw unprocessable('Destroy plans are not allowed in this workspace', 'is-destroy');
  }
  return {
    workspace,
    configurationVersion: configuration.id,
    message,
    source,
    createdBy: toActingPrincipal(actor),
    options: {
      ...DEFAULT_OPTIONS,
      ...options,
      planOnly,
      // Callers that cannot apply runs cannot create a run that is applied without a confirmation.
      autoApply: (options.autoApply ?? row.autoApply) && can(actor, 'apply-run', row),
      terraformVersion: releases.resolve(options.terraformVersion ?? row.terraformVersion),
      variables: variables.map(({ key }) => key),
    },
  };
};

const WORKSPACE = '/data/relationships/workspace';
const CONFIGURATION = '/data/relationships/configuration-version';

/** Returns the configuration version of the new run. Refuses callers that cannot queue runs in the workspace. */
const requireUsableConfiguration = (
  row: WorkspaceForNewRun,
  requested: string | null,
  actor: Actor,
): ConfigurationForRun => {
  requirePermission(actor, 'read-runs', row);
  requirePermission(actor, 'queue-run', row);
  if (row.executionMode === 'local') {
    throw unprocessable('Workspace has the local execution mode: no runs can be created in it', WORKSPACE);
  }
  const { configuration } = row;
  if (!configuration || !can(actor, 'read-configuration-version', configuration)) {
    const detail = requested === null ? 'is missing: none has been uploaded' : 'does not exist';
    throw unprocessable(`Configuration version ${detail}`, CONFIGURATION);
  }
  if (!configuration.uploaded) throw unprocessable('Configuration version has not been uploaded', CONFIGURATION);
  return configuration;
};

/** Creates a run. Starts it in the same append if its workspace is free. */
export const createRun = (
  { store, ids, variables, values, releases, quotas }: RunCreationDependencies,
  { newRun, actor }: RunOperations['CreateRun']['input'],
): Promise<RunRow> => {
  const id = ids.next('run');
  const storeValues = values.storeForNewRun(id, newRun.variables);
  return store.retryOnConflict(async () => {
    const row = await loadWorkspaceForNewRun(store.database, actor, newRun.workspace, newRun.configurationVersion);
    const { organization, workspace } = row;
    const configuration = requireUsableConfiguration(row, newRun.configurationVersion, actor);
    const data = toCreateRun(newRun, row, configuration, actor, releases);
    checkQuota('runValuesMib', quotas.runValuesMib, row.storedValuesMib);
    const lock = await loadWorkspaceLock(store, workspace, organization, row.workspaceSnapshot);
    const stored = await storeValues({ workspace, organization }, row.variables);
    const starts = !waitsForWorkspace(data.options) || (lock.holder === null && !row.isQueued);
    const commands: RunCommand[] = [
      { type: 'CreateRun', data },
      ...createStageCommands(id, row),
      ...(starts ? [{ type: 'QueueRun', data: {} } as const] : []),
    ];
    const write = decideWrite(run, newStream(id, run), organization, ...commands);
    const writes = [
      expectVersion(organization, row.organizationVersion),
      expectVersion(configuration.id, configuration.version),
      // Checked even if the run does not take the lock. If the lock is released meanwhile, nothing would start the run.
      needsWorkspaceLock(getNewState(write)) ? lock.passed({ from: null, to: id }) : lock.precondition,
      write,
    ];
    // The row contains the variables, so the statement that reads it comes last.
    const statements = [
      stored,
      ...variables.encryptForRun(id, organization, newRun.variables),
      selectRunById(id, actor),
    ];
    const { rows } = await store.append(writes, createEventContext(actor), statements);
    return getFirstRow<RunRow>(rows.slice(-1));
  });
};
