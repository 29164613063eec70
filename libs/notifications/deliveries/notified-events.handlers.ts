import type { DataOf, RecordedEvent, Timestamp, WorkspaceDeleted } from '#kernel';
import { STATUS_AFTER, type RunEvent, type RunStatus } from '#runs';
import type { WorkspaceEvent } from '#workspaces';
import type { SentTrigger } from '../configurations/triggers.js';

/** An event that configurations can send. The follower adds what the log does not contain. */
export type NotifiedEvent = {
  readonly event: string;
  readonly time: Timestamp;
  readonly organization: string;
  readonly trigger: SentTrigger;
  /** Null for events of workspaces. */
  readonly run: string | null;
  /** Null for events of runs, whose row has the workspace. */
  readonly workspace: string | null;
  /** The name of a workspace that was created or deleted. */
  readonly workspaceName: string | null;
  readonly status: RunStatus | null;
  /** Whether the event counts only if the run then waits for a user. */
  readonly ifWaiting: boolean;
  readonly actor: { readonly type: string; readonly id: string };
};

type RunNotice = { readonly trigger: SentTrigger; readonly status: RunStatus; readonly ifWaiting?: true };
type WorkspaceNotice = { readonly trigger: SentTrigger; readonly workspaceName?: string };

type Handlers<E extends { readonly type: string }, Result> = {
  readonly [T in E['type']]?: (data: DataOf<Extract<E, { data: unknown }>, T>) => Result | null;
};

const onStatus = (type: keyof typeof STATUS_AFTER, trigger: SentTrigger, ifWaiting?: true) => (): RunNotice => ({
  trigger,
  status: STATUS_AFTER[type],
  ...(ifWaiting && { ifWaiting }),
});

/** Statuses that only the executor reports, and that concern users. */
const STAGE_TRIGGERS: Partial<Readonly<Record<RunStatus, SentTrigger>>> = {
  post_plan_awaiting_decision: 'run:needs_attention',
  policy_override: 'run:needs_attention',
  policy_soft_failed: 'run:errored',
};

const RUN_NOTICES: Handlers<RunEvent, RunNotice> = {
  RunCreated: onStatus('RunCreated', 'run:created'),
  RunPlanStarted: onStatus('RunPlanStarted', 'run:planning'),
  RunPlanned: onStatus('RunPlanned', 'run:needs_attention', true),
  RunPlanSaved: onStatus('RunPlanSaved', 'run:needs_attention'),
  RunStageReached: ({ stage }) => {
    const trigger = STAGE_TRIGGERS[stage];
    return trigger === undefined ? null : { trigger, status: stage };
  },
  RunApplyStarted: onStatus('RunApplyStarted', 'run:applying'),
  RunPlannedAndFinished: onStatus('RunPlannedAndFinished', 'run:completed'),
  RunApplied: onStatus('RunApplied', 'run:completed'),
  RunErrored: onStatus('RunErrored', 'run:errored'),
  RunDiscarded: onStatus('RunDiscarded', 'run:errored'),
  RunCanceled: onStatus('RunCanceled', 'run:errored'),
  RunForceCanceled: onStatus('RunForceCanceled', 'run:errored'),
};

/** Runs lock and unlock their workspace themselves. The triggers of runs cover that. */
const unlessRun = (trigger: SentTrigger, { type }: { readonly type: string }): WorkspaceNotice | null =>
  type === 'runs' ? null : { trigger };

const WORKSPACE_NOTICES: Handlers<WorkspaceEvent | WorkspaceDeleted, WorkspaceNotice> = {
  WorkspaceCreated: ({ name }) => ({ trigger: 'workspace:created', workspaceName: name }),
  WorkspaceDeleted: ({ name }) => ({ trigger: 'workspace:deleted', workspaceName: name }),
  WorkspaceLocked: ({ holder }) => unlessRun('workspace:locked', holder),
  WorkspaceUnlocked: ({ holder }) => unlessRun('workspace:unlocked', holder),
};

export const NOTIFIED_EVENT_TYPES: readonly string[] = [...Object.keys(RUN_NOTICES), ...Object.keys(WORKSPACE_NOTICES)];

type UntypedHandlers<Result> = Readonly<Record<string, ((data: never) => Result | null) | undefined>>;

const handle = <Result>(handlers: object, { type, data }: RecordedEvent): Result | null =>
  (handlers as UntypedHandlers<Result>)[type]?.(data as never) ?? null;

/** Returns what the event notifies about; null for events that notify about nothing. */
export const toNotifiedEvent = (event: RecordedEvent): NotifiedEvent | null => {
  const { id, time, stream, organization, context } = event;
  if (organization === null) return null;
  const { type: actorType, id: actorId } = context.accessor;
  const common = { event: id, time, organization, actor: { type: actorType, id: actorId } };
  const ofRun = handle<RunNotice>(RUN_NOTICES, event);
  if (ofRun) {
    const { trigger, status, ifWaiting = false } = ofRun;
    return { ...common, trigger, status, ifWaiting, run: stream, workspace: null, workspaceName: null };
  }
  const ofWorkspace = handle<WorkspaceNotice>(WORKSPACE_NOTICES, event);
  if (!ofWorkspace) return null;
  const { trigger, workspaceName = null } = ofWorkspace;
  return { ...common, trigger, status: null, ifWaiting: false, run: null, workspace: stream, workspaceName };
};
