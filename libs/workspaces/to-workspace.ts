import { Command } from '@nestjs/cqrs';
import type { DataOf } from '#kernel';
import { ACTOR_TYPE, type Actor } from '#access';
import type { Holder } from './holder.js';
import type { WorkspaceCommand } from './workspace.js';
import type { WorkspaceTarget, WorkspaceRow } from './workspaces.queries.js';

export type { Holder } from './holder.js';
export type { OutputFact, StateFacts } from './state-head.js';
export { StateOutputs } from './state-outputs.js';

export type LaterCommand = Exclude<WorkspaceCommand, { type: 'CreateWorkspace' }>;

/** A command for one workspace, from this slice or a neighbour; resolves to how it stands then, null when it is gone. */
export class ToWorkspace extends Command<WorkspaceRow | null> {
  constructor(
    readonly target: WorkspaceTarget,
    readonly command: LaterCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** The file of a pending version has come by a signed link, which stands for the permission: nobody is asked for. */
export class FinalizeUpload extends Command<WorkspaceRow | null> {
  constructor(
    readonly workspace: string,
    readonly data: DataOf<LaterCommand, 'FinalizeStateVersion'>,
  ) {
    super();
  }
}

/** Who a lock belongs to. An organization's token has no user of its own; clients know users, teams and runs. */
export const holderOf = (actor: Actor): Holder => {
  const type = ACTOR_TYPE[actor.kind];
  return { type: type === 'teams' ? type : 'users', id: actor.id, name: actor.name };
};
