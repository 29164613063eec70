import { unprocessable, type ExecutionMode } from '#kernel';
import type { WorkspaceChanges, WorkspaceSettings } from './workspace-settings.js';

/*
 * Where the runs of a workspace are executed: in a mode and a pool of its own, where `settingOverwrites` says so, else in
 * those of its project, else of its organization.
 */
export type SettingOverwrites = WorkspaceSettings['settingOverwrites'];

/** What a request says of it; what it does not name stays. */
type ExecutionInput = {
  readonly agentPoolId: string | null | undefined;
  readonly executionMode: ExecutionMode | undefined;
  readonly settingOverwrites: Partial<SettingOverwrites> | undefined;
};

/** Giving a mode overwrites what the project says, unless the request says otherwise; undefined where it has no word on it. */
const readOwnMode = ({ executionMode: mode, settingOverwrites: said }: ExecutionInput): boolean | undefined => {
  if (said?.executionMode === true && mode === undefined) {
    throw unprocessable('Execution mode must be given when setting overwrites names it', 'execution-mode');
  }
  return said?.executionMode ?? (mode === undefined ? undefined : true);
};

const resolveOverwrites = (before: SettingOverwrites, given: ExecutionInput): SettingOverwrites => {
  const named = readOwnMode(given);
  const executionMode = named ?? before.executionMode;
  // Who has no mode of its own, and gives its pool away, follows in both.
  const kept = given.agentPoolId === null && !executionMode ? false : before.agentPool;
  const byPool = given.agentPoolId ? true : (named ?? kept);
  // From what there is, so that the keys keep their order: Postgres sorts them, and texts of both are compared.
  return { ...before, executionMode, agentPool: given.settingOverwrites?.agentPool ?? byPool };
};

type Execution = Pick<WorkspaceChanges, 'agentPoolId' | 'executionMode' | 'settingOverwrites'>;

/** What a request makes of it. Who leaves the agents, or follows again, holds on to nothing unseen. */
export const resolveExecution = (before: SettingOverwrites, given: ExecutionInput): Execution => {
  if (Object.values(given).every((one) => one === undefined)) return {};
  const settingOverwrites = resolveOverwrites(before, given);
  const { agentPool, executionMode: own } = settingOverwrites;
  const mode = own ? given.executionMode : undefined;
  const leaves = mode !== undefined && mode !== 'agent';
  const pool = own || agentPool ? (given.agentPoolId ?? (leaves ? null : given.agentPoolId)) : null;
  return {
    settingOverwrites,
    ...(mode === undefined ? {} : { executionMode: mode }),
    ...(pool === undefined ? {} : { agentPoolId: pool }),
  };
};

/** `wanted` is what a request makes of it: a mode that it has no word on is left as it is. Texts: clients.md §2. */
export const checkExecution = (all: WorkspaceSettings, wanted: Execution, followed: ExecutionMode): void => {
  const { agentPoolId: pool, settingOverwrites: own } = all;
  const isAgent = (own.executionMode ? all.executionMode : followed) === 'agent';
  if (wanted.agentPoolId && !isAgent) {
    throw unprocessable("Agent pool must not be specified unless using 'agent' execution mode", 'agent-pool-id');
  }
  if (wanted.settingOverwrites && isAgent && pool === null && (own.executionMode || own.agentPool)) {
    throw unprocessable("Agent pool must be specified when using 'agent' execution mode", 'agent-pool-id');
  }
};
