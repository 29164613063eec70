import { unprocessable, type ExecutionMode } from '#platform/kernel';
import type { WorkspaceChanges, WorkspaceSettings } from './workspace-settings.js';

/**
 * The execution mode of a workspace: its own mode and pool if `settingOverwrites` says so, else those of its project,
 * else those of its organization.
 */
type SettingOverwrites = WorkspaceSettings['settingOverwrites'];

/** The execution settings of a request; omitted settings stay. */
type ExecutionInput = {
  readonly agentPoolId: string | null | undefined;
  readonly executionMode: ExecutionMode | undefined;
  readonly settingOverwrites: Partial<SettingOverwrites> | undefined;
};

/**
 * Returns whether the workspace has its own mode after the request: a mode in the request implies it, unless the
 * overwrites contradict; undefined if the request has neither.
 */
const readOwnMode = ({ executionMode: mode, settingOverwrites: overwrites }: ExecutionInput): boolean | undefined => {
  if (overwrites?.executionMode === true && mode === undefined) {
    throw unprocessable('Execution mode must be given when setting overwrites names it', 'execution-mode');
  }
  return overwrites?.executionMode ?? (mode === undefined ? undefined : true);
};

const resolveOverwrites = (before: SettingOverwrites, input: ExecutionInput): SettingOverwrites => {
  const ownMode = readOwnMode(input);
  const executionMode = ownMode ?? before.executionMode;
  // A workspace without its own mode that removes its pool follows in both.
  const ownPool = input.agentPoolId === null && !executionMode ? false : before.agentPool;
  const byPool = input.agentPoolId ? true : (ownMode ?? ownPool);
  // Spread from the present value to keep the order of its keys: Postgres sorts them, and texts of both are compared.
  return { ...before, executionMode, agentPool: input.settingOverwrites?.agentPool ?? byPool };
};

type Execution = Pick<WorkspaceChanges, 'agentPoolId' | 'executionMode' | 'settingOverwrites'>;

/**
 * Returns the changes of a request. A workspace that leaves the agent mode or follows its project again loses settings
 * that are no longer visible.
 */
export const resolveExecution = (before: SettingOverwrites, input: ExecutionInput): Execution => {
  if (Object.values(input).every((one) => one === undefined)) return {};
  const settingOverwrites = resolveOverwrites(before, input);
  const { agentPool, executionMode: own } = settingOverwrites;
  const mode = own ? input.executionMode : undefined;
  const leaves = mode !== undefined && mode !== 'agent';
  const pool = own || agentPool ? (input.agentPoolId ?? (leaves ? null : input.agentPoolId)) : null;
  return {
    settingOverwrites,
    ...(mode === undefined ? {} : { executionMode: mode }),
    ...(pool === undefined ? {} : { agentPoolId: pool }),
  };
};

/** `changes` are those of a request; a mode that it omits is not checked. */
export const checkExecution = (all: WorkspaceSettings, changes: Execution, followed: ExecutionMode): void => {
  const { agentPoolId: pool, settingOverwrites: own } = all;
  const isAgent = (own.executionMode ? all.executionMode : followed) === 'agent';
  if (changes.agentPoolId && !isAgent) {
    throw unprocessable("Agent pool must not be specified unless using 'agent' execution mode", 'agent-pool-id');
  }
  if (changes.settingOverwrites && isAgent && pool === null && (own.executionMode || own.agentPool)) {
    throw unprocessable("Agent pool must be specified when using 'agent' execution mode", 'agent-pool-id');
  }
};
