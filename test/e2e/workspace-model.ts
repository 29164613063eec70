/**
 * A plain model of the life of one workspace: the response to each action, its changes, and how trail and history
 * record them. It has no streams and no views. If the product differs from the model, one of the two is wrong.
 */

export type ModelUser = { readonly type: 'users' | 'teams' | 'runs'; readonly id: string; readonly name: string };

const STATUS = {
  pending: 'RunCreated',
  plan_queued: 'RunQueued',
  planning: 'RunPlanStarted',
  planned: 'RunPlanned',
  planned_and_finished: 'RunPlannedAndFinished',
  confirmed: 'RunConfirmed',
  apply_queued: 'RunApplyQueued',
  applying: 'RunApplyStarted',
  applied: 'RunApplied',
  errored: 'RunErrored',
  discarded: 'RunDiscarded',
  canceled: 'RunCanceled',
  force_canceled: 'RunForceCanceled',
} as const;
export type Status = keyof typeof STATUS;

/** Statuses that an executor may report next. */
const REPORTS: Partial<Readonly<Record<Status, readonly Status[]>>> = {
  plan_queued: ['planning', 'errored'],
  planning: ['planned', 'errored', 'canceled'],
  apply_queued: ['applying', 'errored'],
  applying: ['applied', 'errored', 'canceled'],
};
const COUNTED: readonly Status[] = ['applied', 'errored'];
const FINAL: readonly Status[] = [...COUNTED, 'planned_and_finished', 'discarded', 'canceled', 'force_canceled'];
const DISCARDABLE: readonly Status[] = ['pending', 'planned'];
const IN_HAND: readonly Status[] = ['planning', 'applying'];

export type ModelRun = {
  readonly id: string;
  readonly planOnly: boolean;
  readonly autoApply: boolean;
  status: Status;
  cancelRequested: boolean;
};

export type StateContent = {
  readonly serial: number;
  readonly lineage: string;
  readonly md5: string;
  readonly resources: number;
};
export type ModelStateVersion<C extends StateContent = StateContent> = {
  readonly id: string;
  readonly content: C;
  /** The lock during which it was created. */
  readonly lock: ModelLock;
  status: 'pending' | 'finalized' | 'discarded';
};

type ModelLock = { readonly holder: ModelUser; readonly reason: string; readonly since: string };
type PastLock = ModelLock & { until: string | null; by: string | null; forced: boolean | null };

type ModelPermission =
  'see' | 'lock' | 'upload' | 'tag' | 'run' | 'update' | 'force' | 'delete' | 'delete by force' | 'create';
const WRITES: readonly ModelPermission[] = ['see', 'lock', 'upload', 'tag', 'run'];
const ADMINISTERS: readonly ModelPermission[] = [...WRITES, 'update', 'force', 'delete'];
const MAY = {
  owner: [...ADMINISTERS, 'delete by force', 'create'],
  admin: ADMINISTERS,
  writer: WRITES,
  reader: ['see'],
  team: WRITES,
  /** A run that is being applied may also `upload`. */
  run: ['see'],
} as const satisfies Readonly<Record<string, readonly ModelPermission[]>>;
export type ModelRole = keyof typeof MAY;

/** The caller. `run` is set if it acts with the token of a run. */
export type LifeCaller = { readonly role: ModelRole; readonly person: ModelUser; readonly run?: ModelRun };

/** Type and action of each event in the audit trail. It does not record other events. */
const TRAIL: Readonly<Record<string, string>> = {
  WorkspaceCreated: 'workspace create',
  WorkspaceUpdated: 'workspace update',
  WorkspaceTagAdded: 'workspace update',
  WorkspaceTagBound: 'workspace update',
  WorkspaceTagRemoved: 'workspace update',
  WorkspaceLocked: 'workspace lock',
  WorkspaceUnlocked: 'workspace unlock',
  WorkspaceDeleted: 'workspace destroy',
  StateVersionCreated: 'state_version create',
  RunCreated: 'run create',
  RunConfirmed: 'run apply',
  RunDiscarded: 'run discard',
  RunCancelRequested: 'run cancel',
  RunForceCanceled: 'run force_cancel',
  RunForceExecuted: 'run force_execute',
};

/**
 * Events that change nothing in the document of the workspace. An event of a run changes it only if the run becomes the
 * current one.
 */
const UNSEEN = ['StateVersionCreated', 'StateVersionFinalized', 'StateVersionDiscarded'];

/** The status of a refused request, and words that its text must contain. */
export class ModelRefusal extends Error {
  constructor(
    readonly status: number,
    readonly detail = '',
  ) {
    super(`${status} ${detail}`);
  }
}

const KIND = { users: 'User', teams: 'Team', runs: 'Run' } as const;
const describeLock = ({ holder, reason, since }: ModelLock): string =>
  `locked by ${KIND[holder.type]} ${holder.name} since ${since}${reason === '' ? '' : `: ${reason}`}`;

const personOf = ({ id }: ModelRun): ModelUser => ({ type: 'runs', id, name: id });
const identifierOf = (type: string, id: string | undefined): object => ({
  data: id === undefined ? null : { type, id },
});

export class WorkspaceModel<C extends StateContent = StateContent> {
  alive = false;
  description: string | null = null;
  autoApply = false;
  /** Values by key. Null marks a flat tag. */
  readonly tags = new Map<string, string | null>();
  lock: ModelLock | null = null;
  latest: ModelStateVersion<C> | null = null;
  finalized: ModelStateVersion<C> | null = null;
  current: ModelStateVersion<C> | null = null;
  /** Runs in the order in which they were queued. */
  readonly runs: ModelRun[] = [];
  currentRun: ModelRun | null = null;
  /** Events of the history with their actors, oldest first. */
  readonly history: { readonly event: string; readonly by: string }[] = [];
  /** Events of the last action, including those of the queue of runs. */
  events: string[] = [];
  trail: string[] = [];
  /** Newest first. */
  private readonly locks: PastLock[] = [];
  private updatedAt = '';
  private latestChangeAt = '';
  private now = '';
  private by = '';

  /** A workspace that is not created yet. */
  constructor(
    readonly id: string,
    public name: string,
  ) {}

  /** Begins the next action, at another time. */
  startStep(now: string, by: string): void {
    [this.now, this.by, this.events, this.trail] = [now, by, [], []];
  }

  lockIt(caller: LifeCaller, reason: string): void {
    this.demand(caller, 'lock');
    if (this.lock) throw new ModelRefusal(409, `The workspace is already ${describeLock(this.lock)}`);
    this.take(caller.person, reason);
  }

  unlockIt(caller: LifeCaller): void {
    this.demand(caller, 'lock');
    if (!this.lock) throw new ModelRefusal(409, 'The workspace is not locked');
    if (this.lock.holder.id !== caller.person.id)
      throw new ModelRefusal(409, `The workspace is ${describeLock(this.lock)}`);
    this.giveUp(false);
  }

  forceUnlock(caller: LifeCaller): void {
    this.demand(caller, 'force');
    if (!this.lock) throw new ModelRefusal(409, 'The workspace is not locked');
    this.giveUp(true);
  }

  update(
    caller: LifeCaller,
    changes: { readonly name?: string; readonly description?: string | null; readonly autoApply?: boolean },
  ): void {
    this.demand(caller, 'update');
    const { name = this.name, description = this.description, autoApply = this.autoApply } = changes;
    if (name === this.name && description === this.description && autoApply === this.autoApply) return;
    [this.name, this.description, this.autoApply] = [name, description, autoApply];
    this.happened('WorkspaceUpdated');
  }

  tag(caller: LifeCaller, key: string): void {
    this.demand(caller, 'tag');
    if (this.tags.has(key)) return;
    this.tags.set(key, null);
    this.happened('WorkspaceTagAdded');
  }

  bind(caller: LifeCaller, key: string, value: string): void {
    this.demand(caller, 'tag');
    if (this.tags.get(key) === value) return;
    this.tags.set(key, value);
    this.happened('WorkspaceTagBound');
  }

  untag(caller: LifeCaller, key: string): void {
    this.demand(caller, 'tag');
    if (this.tags.get(key) !== null) return;
    this.tags.delete(key);
    this.happened('WorkspaceTagRemoved');
  }

  /**
   * Returns the version in the response. For a repeated upload it is the existing version. `inline`: the request
   * contains the file.
   */
  upload(
    caller: LifeCaller,
    content: C,
    { id, inline }: { readonly id: string; readonly inline: boolean },
  ): ModelStateVersion<C> {
    this.demand(caller, 'upload');
    const { lock, latest, finalized } = this;
    if (!lock) throw new ModelRefusal(409, 'Lock the workspace first');
    if (lock.holder.id !== caller.person.id) {
      const { type, name } = lock.holder;
      throw new ModelRefusal(409, type === 'teams' ? 'locked by another team' : `locked by ${KIND[type]} ${name}`);
    }
    if (latest?.content.md5 === content.md5 && latest.lock === lock) {
      if (inline) this.finalize(latest);
      return latest;
    }
    if (finalized && finalized.content.md5 !== content.md5) {
      if (finalized.content.lineage !== content.lineage) throw new ModelRefusal(409, 'lineage');
      if (finalized.content.serial >= content.serial) throw new ModelRefusal(409, 'serial');
    }
    this.discardPending();
    const version: ModelStateVersion<C> = { id, content, lock, status: 'pending' };
    this.latest = version;
    this.latestChangeAt = this.now;
    this.happened('StateVersionCreated');
    if (inline) this.finalize(version);
    return version;
  }

  /** Uploads the file by the link. `right`: the file is the announced one. */
  put(version: ModelStateVersion<C>, right: boolean): void {
    if (!this.alive || version.status === 'discarded') throw new ModelRefusal(404);
    if (!right)
      throw version.status === 'pending' ? new ModelRefusal(422, 'MD5') : new ModelRefusal(409, 'uploaded already');
    this.finalize(version);
  }

  queueRun(caller: LifeCaller, id: string, planOnly: boolean): void {
    this.demand(caller, 'run');
    const run: ModelRun = { id, planOnly, autoApply: this.autoApply, status: 'pending', cancelRequested: false };
    const starts = planOnly || (!this.lock && !this.next);
    if (starts && !planOnly) this.take(personOf(run), '');
    const busy = this.currentRun !== null && !FINAL.includes(this.currentRun.status);
    this.runs.push(run);
    this.happened('RunCreated', !busy && this.becomesCurrentRun(run));
    if (starts) this.become(run, 'plan_queued');
  }

  confirm(caller: LifeCaller, run: ModelRun): void {
    this.demandRun(caller, 'run', run);
    if (run.status !== 'planned') throw new ModelRefusal(409, `Run is ${run.status}`);
    this.become(run, 'confirmed', 'apply_queued');
  }

  discard(caller: LifeCaller, run: ModelRun): void {
    this.demandRun(caller, 'run', run);
    if (!DISCARDABLE.includes(run.status)) throw new ModelRefusal(409, `Run is ${run.status}`);
    this.giveBack(run, false);
    this.become(run, 'discarded');
  }

  /** Cancels a run. A run that is planning or applying is only requested to stop. */
  cancel(caller: LifeCaller, run: ModelRun): void {
    this.demandRun(caller, 'run', run);
    if (FINAL.includes(run.status) || run.status === 'planned' || run.cancelRequested)
      throw new ModelRefusal(409, `Run is ${run.status}`);
    const inHand = IN_HAND.includes(run.status);
    if (!inHand) this.giveBack(run, false);
    run.cancelRequested = true;
    this.happened('RunCancelRequested', false);
    if (!inHand) this.become(run, 'canceled');
  }

  /** More time passes between two actions than the executor has to stop. */
  forceCancel(caller: LifeCaller, run: ModelRun): void {
    this.demandRun(caller, 'force', run);
    if (!IN_HAND.includes(run.status) || !run.cancelRequested) throw new ModelRefusal(409, `Run is ${run.status}`);
    this.giveBack(run, true);
    this.become(run, 'force_canceled');
  }

  forceExecute(caller: LifeCaller, run: ModelRun): void {
    this.demandRun(caller, 'run', run);
    const holder = this.runs.find(({ id }) => id === this.lock?.holder.id);
    if (run.status !== 'pending' || !holder) throw new ModelRefusal(409, `Run is ${run.status}`);
    const waiting = this.runs.slice(0, this.runs.indexOf(run)).filter(({ status }) => status === 'pending');
    const runsAhead = [holder, ...waiting];
    if (!runsAhead.every(({ status }) => DISCARDABLE.includes(status)))
      throw new ModelRefusal(409, 'cannot be discarded');
    this.giveUp(false);
    this.take(personOf(run), '');
    for (const runAhead of runsAhead) this.become(runAhead, 'discarded');
    this.happened('RunForceExecuted', false);
    this.become(run, 'plan_queued');
  }

  report(run: ModelRun, status: Status, hasChanges: boolean): void {
    if (!this.runs.includes(run) || !this.alive) throw new ModelRefusal(404);
    const allowed = REPORTS[run.status]?.includes(status) && (status !== 'canceled' || run.cancelRequested);
    if (!allowed) throw new ModelRefusal(409, `Run is ${run.status}`);
    const statuses = [status, ...(status === 'planned' ? this.afterPlan(run, hasChanges) : [])];
    if (statuses.some((one) => FINAL.includes(one))) this.giveBack(run, false);
    this.become(run, ...statuses);
  }

  remove(caller: LifeCaller, forced: boolean): void {
    if (forced) this.demand(caller, 'delete by force');
    else {
      this.demand(caller, 'delete');
      if (this.lock) throw new ModelRefusal(409, 'it is locked');
      if (this.resources > 0) throw new ModelRefusal(409, `it manages ${this.resources} resources`);
    }
    const [lock] = this.locks;
    if (this.lock && lock) [lock.until, lock.by, lock.forced] = [this.now, this.by, true];
    this.alive = false;
    this.happened('WorkspaceDeleted');
  }

  /** Returns the workspace that takes the name after the deletion. */
  successor(caller: LifeCaller, id: string): WorkspaceModel<C> {
    this.requireUsableRun(caller);
    if (!this.may(caller, 'create')) throw new ModelRefusal(404);
    if (this.alive) throw new ModelRefusal(422, 'Name has already been taken');
    const next = new WorkspaceModel<C>(id, this.name);
    next.startStep(this.now, this.by);
    next.alive = true;
    next.latestChangeAt = this.now;
    next.happened('WorkspaceCreated');
    return next;
  }

  /** Starts the first pending run, as the queue does. */
  settle(): void {
    const { next } = this;
    if (!this.alive || this.lock || !next) return;
    this.by = 'run queue';
    this.take(personOf(next), '');
    this.become(next, 'plan_queued');
  }

  /** Expected members of the document. */
  get document(): object {
    const counted = this.runs.filter(({ status }) => COUNTED.includes(status));
    return {
      attributes: {
        name: this.name,
        description: this.description,
        'auto-apply': this.autoApply,
        locked: this.lock !== null,
        'locked-reason': this.lock?.reason ?? null,
        'tag-names': [...this.tags.keys()],
        'resource-count': this.resources,
        'workspace-kpis-runs-count': counted.length || null,
        'run-failures': counted.length > 0 ? counted.filter(({ status }) => status === 'errored').length : null,
        'updated-at': this.updatedAt,
        'latest-change-at': this.latestChangeAt,
      },
      relationships: {
        'locked-by': identifierOf(this.lock?.holder.type ?? '', this.lock?.holder.id),
        'current-state-version': identifierOf('state-versions', this.current?.id),
        'current-run': identifierOf('runs', this.currentRun?.id),
        'latest-run': identifierOf('runs', this.currentRun?.id),
      },
    };
  }

  /** Expected values of the fields after all changes of the history. */
  get fields(): object {
    return {
      name: this.name,
      description: this.description,
      'auto-apply': this.autoApply,
      locked: this.lock !== null,
      'locked-by': this.lock?.holder ?? null,
      'locked-reason': this.lock?.reason ?? null,
      'tag-bindings': [...this.tags].map(([key, value]) => ({ key, value: value ?? '' })),
      'resource-count': this.resources,
      'current-state-version': this.current?.id ?? null,
      'current-run': this.currentRun?.id ?? null,
    };
  }

  get lockHistory(): readonly object[] {
    return this.locks.map(({ holder, ...lock }) => ({ holder: holder.name, ...lock }));
  }

  private get resources(): number {
    return this.current?.content.resources ?? 0;
  }

  private get next(): ModelRun | undefined {
    return this.runs.find(({ status }) => status === 'pending');
  }

  private may({ role, run }: LifeCaller, permission: ModelPermission): boolean {
    if (permission === 'upload' && run?.status === 'applying') return true;
    return (MAY[role] as readonly ModelPermission[]).includes(permission);
  }

  /** A run's token is invalid once the run has ended, or its workspace is deleted. */
  private requireUsableRun({ run }: LifeCaller): void {
    if (run && (FINAL.includes(run.status) || !this.runs.includes(run) || !this.alive)) throw new ModelRefusal(401);
  }

  private demand(caller: LifeCaller, permission: ModelPermission): void {
    this.requireUsableRun(caller);
    if (!this.alive) throw new ModelRefusal(404);
    if (!this.may(caller, permission)) throw new ModelRefusal(permission === 'delete by force' ? 403 : 404);
  }

  private demandRun(caller: LifeCaller, permission: ModelPermission, run: ModelRun): void {
    this.demand(caller, permission);
    if (!this.runs.includes(run)) throw new ModelRefusal(404);
  }

  private take(holder: ModelUser, reason: string): void {
    this.lock = { holder, reason, since: this.now };
    this.locks.unshift({ ...this.lock, until: null, by: null, forced: null });
    this.happened('WorkspaceLocked');
  }

  /** Unlocks. The state that was uploaded during the lock becomes the current one. */
  private giveUp(forced: boolean): void {
    if (this.latest?.status === 'pending' && !forced)
      throw new ModelRefusal(503, 'latest state version is still pending');
    this.discardPending();
    if (this.finalized !== this.current) {
      this.current = this.finalized;
      this.happened('StateVersionPromoted');
    }
    const [lock] = this.locks;
    if (lock) [lock.until, lock.by, lock.forced] = [this.now, forced ? this.by : lock.holder.name, forced];
    this.lock = null;
    this.happened('WorkspaceUnlocked', true, forced ? 'workspace force_unlock' : undefined);
  }

  /** Unlocks if the run still has the lock. */
  private giveBack(run: ModelRun, forced: boolean): void {
    if (this.lock?.holder.id === run.id) this.giveUp(forced);
  }

  private discardPending(): void {
    if (this.latest?.status !== 'pending') return;
    this.latest.status = 'discarded';
    this.latest = this.finalized;
    this.happened('StateVersionDiscarded');
  }

  private finalize(version: ModelStateVersion<C>): void {
    if (version.status !== 'pending') return;
    version.status = 'finalized';
    this.finalized = version;
    this.happened('StateVersionFinalized');
  }

  private afterPlan(run: ModelRun, hasChanges: boolean): readonly Status[] {
    if (run.cancelRequested) return ['canceled'];
    if (run.planOnly || !hasChanges) return ['planned_and_finished'];
    return run.autoApply ? ['apply_queued'] : [];
  }

  private become(run: ModelRun, ...statuses: readonly Status[]): void {
    for (const status of statuses) {
      run.status = status;
      this.happened(STATUS[status], ['plan_queued', 'confirmed'].includes(status) && this.becomesCurrentRun(run));
    }
  }

  /** Returns whether the run becomes the current run. A plan-only run never does. */
  private becomesCurrentRun(run: ModelRun): boolean {
    if (run.planOnly || this.currentRun === run) return false;
    this.currentRun = run;
    return true;
  }

  private happened(event: string, isShown = !UNSEEN.includes(event), trailName = TRAIL[event]): void {
    this.events.push(event);
    if (trailName !== undefined) this.trail.push(`${trailName} by ${this.by}`);
    if (!isShown) return;
    this.history.push({ event, by: this.by });
    if (!event.startsWith('Run')) this.updatedAt = this.now;
  }
}
