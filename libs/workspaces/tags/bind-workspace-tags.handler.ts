import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { sql } from '#kernel';
import { EventStore } from '#event-store';
import { castRows } from '#postgres';
import { createEventContext } from '#access';
import { selectWorkspaceBindings, type BindingRow } from '#tag-bindings';
import { BindWorkspaceTags } from '../workspaces/workspaces.commands.js';
import { executeWorkspaceCommand } from '../workspaces/workspaces.handler.js';

@CommandHandler(BindWorkspaceTags)
export class BindWorkspaceTagsHandler implements ICommandHandler<BindWorkspaceTags> {
  constructor(private readonly store: EventStore) {}

  async execute({ workspace: id, bindings, mode, actor }: BindWorkspaceTags): Promise<readonly BindingRow[]> {
    const command = { type: 'BindTags', data: { bindings, mode } } as const;
    const [rows = []] = await executeWorkspaceCommand(
      this.store,
      { target: { id }, command, actor, context: createEventContext(actor) },
      (workspace) => selectWorkspaceBindings(sql`${[workspace]}::text[]`, 'own', actor),
    );
    return castRows<BindingRow>(rows);
  }
}
