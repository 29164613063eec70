import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conflict, Ids, notFound } from '#kernel';
import { EventStore, unchanged } from '#event-store';
import { contextOf } from '#access';
import { IssueRunToken, newToken, type IssuedToken, type TokenRow } from '#people/to-people';
import { isFinal } from './run-status.js';
import { run } from './run.js';
import { authorize } from './runs.handler.js';
import { runForCommand } from './runs.queries.js';

/** Another one each time: who has lost theirs with the machine that it was on needs one, too. All end with the run. */
@CommandHandler(IssueRunToken)
export class IssueRunTokenHandler implements ICommandHandler<IssueRunToken> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  execute({ run: id, actor }: IssueRunToken): Promise<IssuedToken> {
    return this.store.untilFirst(async () => {
      const found = await runForCommand(this.store.database, actor, id);
      authorize(actor, 'IssueRunToken', found);
      const { state, version } = await this.store.restore(id, run, found.snapshot);
      if (state.status === 'absent') throw notFound();
      if (isFinal(state.status)) throw conflict(`Run is ${state.status}: there is nothing left to do for it`);
      const birth = { kind: 'run', owner: id, description: null, expiredAt: null } as const;
      const token = newToken(this.ids, found.organization, birth, actor);
      const held = [
        unchanged(found.organization, found.organizationVersion),
        unchanged(found.workspace, found.workspaceSnapshot.version),
        unchanged(id, version),
      ];
      const { rows } = await this.store.append([...held, token.write], contextOf(actor), token.statements);
      return { ...(rows.at(-1)?.[0] as TokenRow), secret: token.secret };
    });
  }
}
