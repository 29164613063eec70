import { Command } from '@nestjs/cqrs';
import type { BindingMode, DataOf, Message, Tag } from '#kernel';
import type { Actor } from '#access';
import type { BindingRow, TagReference } from '#tag-bindings';
import type { LockCommandInput } from '../lock/lock.js';
import type { ConsumerCommand } from '../remote-state-consumers/remote-state-consumers.js';
import type { WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

/** Flat tags as a request names them. */
type TagCommandInput =
  Message<'AddTags', { tags: readonly TagReference[] }> | Message<'RemoveTags', { tags: readonly TagReference[] }>;

export type ExistingWorkspaceCommand =
  | Exclude<
      WorkspaceCommand,
      { type: 'CreateWorkspace' | LockCommandInput['type'] | TagCommandInput['type'] } | ConsumerCommand
    >
  | LockCommandInput
  | TagCommandInput;

/** A command for one workspace, from this slice or a neighbour; resolves to how it stands then, null when it is gone. */
export class ChangeWorkspace extends Command<WorkspaceRow | null> {
  constructor(
    readonly target: WorkspaceTarget,
    readonly command: ExistingWorkspaceCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Bindings for one workspace; resolves to all that it has of its own then. */
export class BindWorkspaceTags extends Command<readonly BindingRow[]> {
  constructor(
    readonly workspace: string,
    readonly bindings: readonly Tag[],
    readonly mode: BindingMode,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Adds a flat tag to workspaces, to all of them or none. */
export class TagWorkspaces extends Command<void> {
  constructor(
    readonly tag: string,
    readonly workspaces: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Takes flat tags from all workspaces of an organization. */
export class DeleteTags extends Command<void> {
  constructor(
    readonly organization: string,
    readonly tags: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

/** The file of a pending version has come by a signed link, which stands for the permission: nobody is asked for. */
export class FinalizeUpload extends Command<WorkspaceRow | null> {
  constructor(
    readonly workspace: string,
    readonly data: DataOf<ExistingWorkspaceCommand, 'FinalizeStateVersion'>,
  ) {
    super();
  }
}
