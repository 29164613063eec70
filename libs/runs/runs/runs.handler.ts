import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, conflict, Ids, notFound, type DataOf } from '#kernel';
import { EventStore, getFirstRow, expectVersion, decideWrite, type StreamWrite } from '#event-store';
import { createEventContext, requirePermission, can, toActingPrincipal, type Actor, type Permission } from '#access';
import { loadWorkspaceLock } from '#workspaces';
import { needsWorkspaceLock, type RunState } from './run-state.js';
import { isActionAllowed } from './run-status.js';
import { run, type RunCommand } from './run.js';
import { selectRunById, loadRunForCommand, listRunsAhead, type RunForCommand, type RunRow } from './runs.queries.js';

/** Wishes, without what is added here: times, ids, who it was. */
export type RunCommandInput =
  | { readonly type: 'ConfirmRun' | 'DiscardRun' | 'CancelRun' | 'ForceCancelRun' | 'ForceExecuteRun' }
  | { readonly type: 'ReportProgress'; readonly data: DataOf<RunCommand, 'ReportProgress'> };

/** A command for one run; `comment` is said along with it. Resolves to how the run stands then. */
export class ChangeRun extends Command<RunRow> {
  constructor(
    readonly id: string,
    readonly wish: RunCommandInput,
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
export const getNewState = (write: StreamWrite): RunState => write.snapshot?.state as RunState;

@CommandHandler(ChangeRun)
export class RunsHandler implements ICommandHandler<ChangeRun> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  execute({ id, wish, actor, comment }: ChangeRun): Promise<RunRow> {
    return this.store.untilFirst(async () => {
      const found = await loadRunForCommand(this.store.database, actor, id);
      authorizeRunCommand(actor, wish.type, found);
      const commands = [
        toRunCommand(wish, actor, this.clock.now()),
        ...(comment ? [createCommentCommand(this.ids.next('wsc'), comment, actor)] : []),
      ];
      const writes = await this.writesFor(found, wish.type, commands);
      const { rows } = await this.store.append(writes, createEventContext(actor), [selectRunById(id, actor)]);
      return getFirstRow<RunRow>(rows);
    });
  }

  /** The run's events, and what they mean for the workspace's lock and for who was before it: one append. */
  private async writesFor(
    found: RunForCommand,
    wish: RunCommandInput['type'],
    commands: readonly RunCommand[],
  ): Promise<readonly StreamWrite[]> {
    const { id, organization } = found;
    const loaded = await this.store.restore(id, run, found.snapshot);
    const write = decideWrite(run, loaded, organization, ...commands);
    const lock = await loadWorkspaceLock(this.store, found.workspace, organization, found.workspaceSnapshot);
    const held = expectVersion(organization, found.organizationVersion);
    if (wish === 'ForceExecuteRun') {
      const { holder } = lock;
      if (holder?.type !== 'runs') throw conflict('Run is pending: the workspace is not locked by another run');
      const overtaken = await this.overtaken(id, holder.id, organization);
      return [held, lock.passed({ from: holder.id, to: id }), ...overtaken, write];
    }
    const [before, after] = [needsWorkspaceLock(loaded.state), needsWorkspaceLock(getNewState(write))];
    if (before === after) return [held, lock.precondition, write];
    const forced = wish === 'ForceCancelRun';
    return [held, lock.passed(after ? { from: null, to: id } : { from: id, to: null, forced }), write];
  }

  /** Whoever is before it ends here; nobody can be passed who is being planned or applied. */
  private async overtaken(id: string, holder: string, organization: string): Promise<StreamWrite[]> {
    const ahead = await listRunsAhead(this.store.database, id, holder);
    return Promise.all(
      ahead.map(async (other) => {
        const loaded = await this.store.restore(other.id, run, other.snapshot);
        const { status } = loaded.state;
        if (status === 'absent' || !isActionAllowed(status, 'discard')) {
          throw conflict(`Run is pending: ${other.id} before it is ${status} and cannot be discarded`);
        }
        return decideWrite(run, loaded, organization, { type: 'DiscardRun', data: {} });
      }),
    );
  }
}

export const createCommentCommand = (id: string, body: string, actor: Actor): RunCommand => ({
  type: 'CommentRun',
  data: { id, body, author: toActingPrincipal(actor) },
});

const toRunCommand = (wish: RunCommandInput, actor: Actor, now: Date): RunCommand => {
  switch (wish.type) {
    case 'ReportProgress':
      return wish;
    case 'ConfirmRun':
      return { type: 'ConfirmRun', data: { confirmedBy: toActingPrincipal(actor) } };
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
export const authorizeRunCommand = (actor: Actor, type: keyof typeof PERMISSION, found: RunForCommand): void => {
  const permission = PERMISSION[type];
  if (permission === 'execute-run' ? !found.executable : !can(actor, 'read-runs', found)) throw notFound();
  requirePermission(actor, permission, found);
};
