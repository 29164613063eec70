import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids } from '#kernel';
import { EventStore, firstRow, unchanged } from '#event-store';
import { contextOf, type Actor } from '#access';
import { commentById, type CommentRow } from './run-events.queries.js';
import { run } from './run.js';
import { authorize, commentOf } from './runs.handler.js';
import { runForCommand } from './runs.queries.js';

export class CommentOnRun extends Command<CommentRow> {
  constructor(
    readonly id: string,
    readonly body: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CommentOnRun)
export class CommentOnRunHandler implements ICommandHandler<CommentOnRun> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ id, body, actor }: CommentOnRun): Promise<CommentRow> {
    const comment = this.ids.next('wsc');
    const { rows } = await this.store.handle({
      decider: run,
      load: async () => {
        const found = await runForCommand(this.store.database, actor, id);
        authorize(actor, 'CommentRun', found);
        return { ...(await this.store.restore(id, run, found.snapshot)), found };
      },
      command: () => commentOf(comment, body, actor),
      organization: ({ found }) => found.organization,
      holding: ({ found }) => [
        unchanged(found.organization, found.organizationVersion),
        unchanged(found.workspace, found.workspaceSnapshot.version),
      ],
      context: contextOf(actor),
      read: () => [commentById(comment)],
    });
    return firstRow<CommentRow>(rows);
  }
}
