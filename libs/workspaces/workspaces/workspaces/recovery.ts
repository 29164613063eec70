import {
  checkName,
  decidePurge,
  requireDeleted,
  type HandlersByType,
  type Message,
  type PurgeCommandData,
  type WorkspaceEnd,
} from '#platform/kernel';
import { decideForcedEnd } from '../lock/lock.js';
import { NAME_RULE } from '../settings/settings.js';
import type { WorkspaceUpdated } from '../settings/workspace-settings.js';
import { decideUnbinding, type FixedTagKey, type TagEvent } from '../tags/tags.js';
import type { StateEvent } from './state-head.js';
import type { ActiveWorkspace, WorkspaceSshKeyEvent, WorkspaceState } from './workspace-state.js';

/** The recovery of a deleted workspace. */
export type RecoveryEvent = Message<'WorkspaceRecovered', { name: string; project: string }>;

export type RecoveryCommand =
  | Message<
      'RecoverWorkspace',
      {
        /** Default: the name before the deletion. */
        name: string | undefined;
        project: string;
        /** Whether the workspace may use its agent pool, if it has one. */
        isPoolUsable: boolean;
        /** Whether its SSH key exists, if it has one. */
        hasSshKey: boolean;
        /** Keys that workspaces of the project may not bind. Bindings that the workspace had in this project stay. */
        fixed: readonly FixedTagKey[];
      }
    >
  | Message<'PurgeWorkspace', PurgeCommandData>;

/** Events of a recovery or a purge: besides their own, those that remove what no longer exists. */
type RecoveryOutcome = RecoveryEvent | WorkspaceEnd | WorkspaceUpdated | WorkspaceSshKeyEvent | TagEvent | StateEvent;

const NOUN = 'workspace';

/** Returns the events that make the workspace follow its project, because its own pool is gone. */
const leavePool = ({ settings: { agentPoolId, settingOverwrites } }: ActiveWorkspace): readonly WorkspaceUpdated[] => {
  if (agentPoolId === null) return [];
  const followed = { ...settingOverwrites, executionMode: false, agentPool: false };
  return [{ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, settingOverwrites: followed } } }];
};

const leaveSshKey = ({ sshKey }: ActiveWorkspace): readonly WorkspaceSshKeyEvent[] =>
  sshKey === null ? [] : [{ type: 'WorkspaceSshKeyUnassigned', data: { key: sshKey } }];

export const recoveryDecisions: HandlersByType<RecoveryCommand, [state: WorkspaceState], readonly RecoveryOutcome[]> = {
  RecoverWorkspace: ({ name, project, isPoolUsable, hasSshKey, fixed }, state) => {
    const last = requireDeleted(state, NOUN);
    if (name !== undefined && name !== last.name) checkName(name, NAME_RULE);
    return [
      { type: 'WorkspaceRecovered', data: { name: name ?? last.name, project } },
      ...(isPoolUsable ? [] : leavePool(last)),
      ...(hasSshKey ? [] : leaveSshKey(last)),
      ...(project === last.project ? [] : decideUnbinding(last.tags, fixed)),
      // Nobody uploads a version that waited for its file, and no unlock would make the newest one current.
      ...decideForcedEnd(last),
    ];
  },
  PurgeWorkspace: (data, state) =>
    decidePurge(data, state, {
      noun: NOUN,
      purge: ({ name, project }): WorkspaceEnd => ({ type: 'WorkspacePurged', data: { name, project, ...data } }),
    }),
};
