import type { BindingMode, DataOf, Message, Problem, Tag } from '#platform/kernel';
import type { Actor, RecoveredResource } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { BindingRow, TagReference } from '#organizations/tag-bindings';
import type { LockCommandInput } from '../lock/lock.js';
import type { RecoveryCommand } from './recovery.js';
import type { ConsumerCommand } from '../remote-state-consumers/remote-state-consumers.js';
import type { SiteRelease } from '../tool-versions/tool-versions.view.js';
import type { WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

/** References to flat tags, as requests contain them. */
type TagCommandInput =
  Message<'AddTags', { tags: readonly TagReference[] }> | Message<'RemoveTags', { tags: readonly TagReference[] }>;

/** Returns the problem with the tool version that a request names, given what administrators of the site say about releases. */
export type VersionCheck = (site: readonly SiteRelease[]) => Problem | null;

type WithVersionCheck<Data> = Omit<Data, 'versionProblem'> & { readonly findVersionProblem?: VersionCheck };

type UpdateCommandInput = Message<'UpdateWorkspace', WithVersionCheck<DataOf<WorkspaceCommand, 'UpdateWorkspace'>>>;

/** The commands for one existing workspace, without the facts that the handler loads. */
type ExistingWorkspaceCommand =
  | Exclude<
      WorkspaceCommand,
      | { type: 'CreateWorkspace' | 'UpdateWorkspace' | LockCommandInput['type'] | TagCommandInput['type'] }
      | ConsumerCommand
      | RecoveryCommand
    >
  | UpdateCommandInput
  | LockCommandInput
  | TagCommandInput;

/** The data of these commands, by type. */
export type ExistingWorkspaceData = {
  readonly [T in ExistingWorkspaceCommand['type']]: DataOf<ExistingWorkspaceCommand, T>;
};

/** The attributes of a new workspace. If `project` is null, the workspace goes to the default project. */
export type NewWorkspaceInput = Omit<
  WithVersionCheck<DataOf<WorkspaceCommand, 'CreateWorkspace'>>,
  'project' | 'followedMode' | 'fixed' | 'names'
> & {
  readonly project: string | null;
  readonly flatTags: readonly TagReference[];
};

/** Resolves to null if the workspace has been deleted meanwhile. */
type ExistingWorkspaceOperation<T extends keyof ExistingWorkspaceData> = Operation<
  { target: WorkspaceTarget; data: ExistingWorkspaceData[T]; actor: Actor },
  WorkspaceRow | null
>;

type ConsumerOperation = Operation<{ workspace: string; consumers: readonly string[]; actor: Actor }, void>;

/** Operations on several workspaces change all of them or none, unless their comment says otherwise. */
export type WorkspaceOperations = {
  CreateWorkspace: Operation<{ organization: string; data: NewWorkspaceInput; actor: Actor }, WorkspaceRow>;
  UpdateWorkspace: ExistingWorkspaceOperation<'UpdateWorkspace'>;
  DeleteWorkspace: Operation<{ target: WorkspaceTarget; data: { readonly forced: boolean }; actor: Actor }, void>;
  /** Brings a deleted workspace back, under another name if there is one in the request. */
  RecoverWorkspace: Operation<{ id: string; name: string | undefined; actor: Actor }, RecoveredResource>;
  PurgeWorkspace: Operation<{ id: string; actor: Actor }, void>;
  /** Moves workspaces into a project. */
  MoveWorkspaces: Operation<{ project: string; workspaces: readonly string[]; actor: Actor }, void>;
  AssignSshKey: ExistingWorkspaceOperation<'AssignSshKey'>;
  LockWorkspace: ExistingWorkspaceOperation<'LockWorkspace'>;
  RenewLock: ExistingWorkspaceOperation<'RenewLock'>;
  UnlockWorkspace: ExistingWorkspaceOperation<'UnlockWorkspace'>;
  ForceUnlockWorkspace: ExistingWorkspaceOperation<'ForceUnlockWorkspace'>;
  CreateStateVersion: ExistingWorkspaceOperation<'CreateStateVersion'>;
  FinalizeStateVersion: ExistingWorkspaceOperation<'FinalizeStateVersion'>;
  /** Ends a state version whose file was refused. Does nothing if the version has ended already. */
  FailUpload: Operation<{ workspace: string; data: ExistingWorkspaceData['FailStateVersion'] }, void>;
  /** Finalizes a state version whose file arrived through a signed link. The link replaces the caller's permission. */
  FinalizeUpload: Operation<
    { workspace: string; data: ExistingWorkspaceData['FinalizeStateVersion'] },
    WorkspaceRow | null
  >;
  /** Resolves to all bindings of the workspace itself. */
  BindTags: Operation<
    { workspace: string; bindings: readonly Tag[]; mode: BindingMode; actor: Actor },
    readonly BindingRow[]
  >;
  AddTags: ExistingWorkspaceOperation<'AddTags'>;
  RemoveTags: ExistingWorkspaceOperation<'RemoveTags'>;
  /** Adds a flat tag to workspaces. */
  TagWorkspaces: Operation<{ tag: string; workspaces: readonly string[]; actor: Actor }, void>;
  /** Removes flat tags from all workspaces of an organization, in several appends. */
  DeleteTags: Operation<{ organization: string; tags: readonly string[]; actor: Actor }, void>;
  AddRemoteStateConsumers: ConsumerOperation;
  RemoveRemoteStateConsumers: ConsumerOperation;
  ReplaceRemoteStateConsumers: ConsumerOperation;
};

export class ChangeWorkspace<T extends keyof WorkspaceOperations> extends AggregateCommand<WorkspaceOperations, T> {}
