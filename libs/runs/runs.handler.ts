import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, conflict, Ids, notFound, type DataOf } from '#kernel';
import { EventStore, firstRow, unchanged, writeOf, type Write } from '#event-store';
import { contextOf, demand, may, personOf, type Actor, type Permission } from '#access';
import { workspaceLock } from '#workspaces';
import { holdsWorkspace, type Run } from './run-state.js';
import { allows } from './run-status.js';
import { run, type RunCommand } from './run.js';
import { runById, runForCommand, runsAhead, type RunForCommand, type RunRow } from './runs.queries.js';

/** Wishes, without what is added here: times, ids, who it was. */
export type RunWish =
  | { readonly type: 'ConfirmRun' | 'DiscardRun' | 'CancelRun' | 'ForceCancelRun' | 'ForceExecuteRun' }
  | { readonly type: 'ReportProgress'; readonly data: DataOf<RunCommand, 'ReportProgress'> };

/** A command for one run; `comment` is said along with it. Resolves to how the run stands then. */
export class ToRun extends Command<RunRow> {
  constructor(
    readonly id: string,
    readonly wish: RunWish,
    readonly actor: Actor,
    readonly comment: string | null = null,
  ) {
    super();
  }
}

const PERMISSION = {
  ConfirmRun: 'apply-run',
  DiscardRun: 'apply-run',
  CancelRun: 'apply-run',
  ForceCancelRun: 'force-cancel-run',
  ForceExecuteRun: 'apply-run',
  CommentRun: 'comment-run',
  ReportProgress: 'execute-run',
  IssueRunToken: 'execute-run',
} as const satisfies Partial<Record<RunCommand['type'] | 'IssueRunToken', Permission>>;

/** How long an executor may take to stop before it may be given up. */
const COOL_OFF_MS = 10_000;

/** What a write leaves the run in. */
export const stateOf = (write: Write): Run => write.snapshot?.state as Run;

@CommandHandler(ToRun)
export class RunsHandler implements ICommandHandler<ToRun> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  execute({ id, wish, actor, comment }: ToRun): Promise<RunRow> {
    return this.store.untilFirst(async () => {
      const found = await runForCommand(this.store.database, actor, id);
      authorize(actor, wish.type, found);
      const commands = [
        commandOf(wish, actor, this.clock.now()),
        ...(comment ? [commentOf(this.ids.next('wsc'), comment, actor)] : []),
      ];
      const writes = await this.writesFor(found, wish.type, commands);
      const { rows } = await this.store.append(writes, contextOf(actor), [runById(id, actor)]);
      return firstRow<RunRow>(rows);
    });
  }

  /** The run's events, and what they mean for the workspace's lock and for who was before it: one append. */
  private async writesFor(
    found: RunForCommand,
    wish: RunWish['type'],
    commands: readonly RunCommand[],
  ): Promise<readonly Write[]> {
    const { id, organization } = found;
    const loaded = await this.store.restore(id, run, found.snapshot);
    const write = writeOf(run, loaded, organization, ...commands);
    const lock = await workspaceLock(this.store, found.workspace, organization, found.workspaceSnapshot);
    const held = unchanged(organization, found.organizationVersion);
    if (wish === 'ForceExecuteRun') {
      const { holder } = lock;
      if (holder?.type !== 'runs') throw conflict('Run is pending: the workspace is not locked by another run');
      const overtaken = await this.overtaken(id, holder.id, organization);
      return [held, lock.passed({ from: holder.id, to: id }), ...overtaken, write];
    }
    const [before, after] = [holdsWorkspace(loaded.state), holdsWorkspace(stateOf(write))];
    if (before === after) return [held, lock.kept, write];
    const forced = wish === 'ForceCancelRun';
    return [held, lock.passed(after ? { from: null, to: id } : { from: id, to: null, forced }), write];
  }

  /** Whoever is before it ends here; nobody can be passed who is being planned or applied. */
  private async overtaken(id: string, holder: string, organization: string): Promise<Write[]> {
    const ahead = await runsAhead(this.store.database, id, holder);
    return Promise.all(
      ahead.map(async (other) => {
        const loaded = await this.store.restore(other.id, run, other.snapshot);
        const { status } = loaded.state;
        if (status === 'absent' || !allows(status, 'discard')) {
          throw conflict(`Run is pending: ${other.id} before it is ${status} and cannot be discarded`);
        }
        return writeOf(run, loaded, organization, { type: 'DiscardRun', data: {} });
      }),
    );
  }
}

export const commentOf = (id: string, body: string, actor: Actor): RunCommand => ({
  type: 'CommentRun',
  data: { id, body, author: personOf(actor) },
});

const commandOf = (wish: RunWish, actor: Actor, now: Date): RunCommand => {
  switch (wish.type) {
    case 'ReportProgress':
      return wish;
    case 'ConfirmRun':
      return { type: 'ConfirmRun', data: { confirmedBy: personOf(actor) } };
    case 'CancelRun': {
      const forceCancelAvailableAt = new Date(now.getTime() + COOL_OFF_MS).toISOString();
      return { type: 'CancelRun', data: { forceCancelAvailableAt } };
    }
    case 'ForceCancelRun':
      return { type: 'ForceCancelRun', data: { at: now.toISOString() } };
    case 'DiscardRun':
    case 'ForceExecuteRun':
      return { type: wish.type, data: {} };
  }
};

/** Executors have to do with what is theirs to execute; of everybody else, who may not read it learns nothing. */
export const authorize = (actor: Actor, type: keyof typeof PERMISSION, found: RunForCommand): void => {
  const permission = PERMISSION[type];
  if (permission === 'execute-run' ? !found.executable : !may(actor, 'read-runs', found)) throw notFound();
  demand(actor, permission, found);
};
