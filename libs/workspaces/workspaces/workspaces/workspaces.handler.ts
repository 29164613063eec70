import { Inject } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { Ids, sql } from '#platform/kernel';
import { AggregateHandler, EventStore, getFirstRowOrNull, type OperationTable } from '#storage/event-store';
import { castRows } from '#platform/postgres';
import { createEventContext, createSystemContext, RecoveryPeriod, type Actor } from '#api/access';
import { selectWorkspaceBindings, type BindingRow } from '#organizations/tag-bindings';
import { moveWorkspaces } from './move-workspaces.operation.js';
import { purgeWorkspace, recoverWorkspace } from './recover-workspace.operation.js';
import { changeRemoteStateConsumers } from '../remote-state-consumers/change-remote-state-consumers.operation.js';
import { deleteTags } from './delete-tags.operation.js';
import { tagWorkspaces } from './tag-workspaces.operation.js';
import { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';
import { changeWorkspace, failStateVersion } from './change-workspace.operation.js';
import { createWorkspace } from './create-workspace.operation.js';
import { ChangeWorkspace, type ExistingWorkspaceData, type WorkspaceOperations } from './workspaces.commands.js';
import type { WorkspaceRow, WorkspaceTarget } from './workspaces.queries.js';

/** Injection token of a setting: whether new workspaces share their state with the whole organization by default. */
export const GLOBAL_REMOTE_STATE = 'cadastre:global-remote-state';

@CommandHandler(ChangeWorkspace)
export class WorkspacesHandler extends AggregateHandler<WorkspaceOperations> {
  protected readonly operations: OperationTable<WorkspaceOperations> = {
    CreateWorkspace: (input) => this.create(input),
    UpdateWorkspace: (input) => this.change('UpdateWorkspace', input),
    DeleteWorkspace: (input) => this.remove(input),
    RecoverWorkspace: (input) => recoverWorkspace(this.store, input),
    PurgeWorkspace: (input) => purgeWorkspace(this.store, input),
    MoveWorkspaces: (input) => moveWorkspaces(this.store, input),
    AssignSshKey: (input) => this.change('AssignSshKey', input),
    LockWorkspace: (input) => {
      const isImported = input.actor.origin !== undefined;
      return this.change('LockWorkspace', { ...input, data: { ...input.data, isImported } });
    },
    RenewLock: (input) => this.change('RenewLock', input),
    UnlockWorkspace: (input) => this.change('UnlockWorkspace', input),
    ForceUnlockWorkspace: (input) => this.change('ForceUnlockWorkspace', input),
    CreateStateVersion: (input) => this.change('CreateStateVersion', input),
    FinalizeStateVersion: (input) => this.change('FinalizeStateVersion', input),
    FailUpload: ({ workspace: id, data }) =>
      failStateVersion(this.store, id, data.id, createSystemContext('signed link', this.ids.uuid())),
    FinalizeUpload: (input) => this.finalizeUpload(input),
    BindTags: (input) => this.bindTags(input),
    AddTags: (input) => this.change('AddTags', input),
    RemoveTags: (input) => this.change('RemoveTags', input),
    TagWorkspaces: (input) => tagWorkspaces(this.store, input),
    DeleteTags: (input) => deleteTags(this.store, input),
    AddRemoteStateConsumers: (input) => changeRemoteStateConsumers(this.store, 'AddRemoteStateConsumers', input),
    RemoveRemoteStateConsumers: (input) => changeRemoteStateConsumers(this.store, 'RemoveRemoteStateConsumers', input),
    ReplaceRemoteStateConsumers: (input) =>
      changeRemoteStateConsumers(this.store, 'ReplaceRemoteStateConsumers', input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly releases: ToolReleases,
    private readonly recoveryPeriod: RecoveryPeriod,
    @Inject(GLOBAL_REMOTE_STATE) private readonly globalRemoteState: boolean,
  ) {
    super();
  }

  private create(input: WorkspaceOperations['CreateWorkspace']['input']): Promise<WorkspaceRow> {
    const { store, ids, releases, globalRemoteState } = this;
    return createWorkspace({ store, ids, releases, globalRemoteState }, input);
  }

  private async change<T extends keyof ExistingWorkspaceData>(
    type: T,
    { target, data, actor }: { target: WorkspaceTarget; data: ExistingWorkspaceData[T]; actor: Actor },
  ): Promise<WorkspaceRow | null> {
    const context = createEventContext(actor);
    return getFirstRowOrNull<WorkspaceRow>(await changeWorkspace(this.store, type, { target, data, actor, context }));
  }

  private async remove({ target, data, actor }: WorkspaceOperations['DeleteWorkspace']['input']): Promise<void> {
    const recoverableUntil = this.recoveryPeriod.computeEnd();
    await this.change('DeleteWorkspace', { target, data: { ...data, recoverableUntil }, actor });
  }

  private async finalizeUpload(input: WorkspaceOperations['FinalizeUpload']['input']): Promise<WorkspaceRow | null> {
    const { workspace: id, data } = input;
    const context = createSystemContext('signed link', this.ids.uuid());
    const task = { target: { id }, data, actor: null, context };
    return getFirstRowOrNull<WorkspaceRow>(await changeWorkspace(this.store, 'FinalizeStateVersion', task));
  }

  private async bindTags(input: WorkspaceOperations['BindTags']['input']): Promise<readonly BindingRow[]> {
    const { workspace: id, bindings, mode, actor } = input;
    const task = { target: { id }, data: { bindings, mode }, actor, context: createEventContext(actor) };
    const [rows = []] = await changeWorkspace(this.store, 'BindTags', task, (workspace) =>
      selectWorkspaceBindings(sql`${[workspace]}::text[]`, 'own', actor),
    );
    return castRows<BindingRow>(rows);
  }
}
