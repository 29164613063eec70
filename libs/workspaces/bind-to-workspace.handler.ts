import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { sql } from '#kernel';
import { EventStore } from '#event-store';
import { contextOf } from '#access';
import { bindingsOfWorkspaces, type BindingRow } from '#tag-bindings';
import { BindToWorkspace } from './workspaces.commands.js';
import { tell } from './workspaces.handler.js';

@CommandHandler(BindToWorkspace)
export class BindToWorkspaceHandler implements ICommandHandler<BindToWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ workspace: id, bindings, how, actor }: BindToWorkspace): Promise<readonly BindingRow[]> {
    const command = { type: 'BindTags', data: { bindings, how } } as const;
    const [rows = []] = await tell(
      this.store,
      { target: { id }, command, actor, context: contextOf(actor) },
      (workspace) => bindingsOfWorkspaces(sql`${[workspace]}::text[]`, 'own', actor),
    );
    return rows as unknown as readonly BindingRow[];
  }
}
