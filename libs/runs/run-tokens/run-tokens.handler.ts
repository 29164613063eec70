import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, conflict, Ids, notFound } from '#kernel';
import { EventStore, expectVersion } from '#event-store';
import { createEventContext, type Actor } from '#access';
import { prepareNewToken, type IssuedToken } from '#people';
import { isFinal } from '../runs/run-status.js';
import { run } from '../runs/run.js';
import { authorizeRunCommand } from '../runs/runs.handler.js';
import { loadRunForCommand } from '../runs/runs.queries.js';

/** A run can wait for a person for months; its executor requests another token then. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1_000;

export class IssueRunToken extends Command<IssuedToken> {
  constructor(
    readonly run: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Issues a new token at each request, because an executor can lose its token. All of them end with the run. */
@CommandHandler(IssueRunToken)
export class IssueRunTokenHandler implements ICommandHandler<IssueRunToken> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  execute({ run: id, actor }: IssueRunToken): Promise<IssuedToken> {
    return this.store.untilFirst(async () => {
      const found = await loadRunForCommand(this.store.database, actor, id);
      authorizeRunCommand(actor, 'IssueRunToken', found);
      const { state, version } = await this.store.restore(id, run, found.snapshot);
      if (state.status === 'absent') throw notFound();
      if (isFinal(state.status)) throw conflict(`Run is ${state.status}: there is nothing left to do for it`);
      const expiredAt = new Date(this.clock.now().getTime() + TOKEN_LIFETIME_MS).toISOString();
      const birth = { kind: 'run', owner: id, description: null, expiredAt } as const;
      const token = prepareNewToken(this.ids, found.organization, birth, actor);
      const held = [
        expectVersion(found.organization, found.organizationVersion),
        expectVersion(found.workspace, found.workspaceSnapshot.version),
        expectVersion(id, version),
      ];
      const { rows } = await this.store.append([...held, token.write], createEventContext(actor), token.statements);
      return token.issued(rows);
    });
  }
}
