import type { EventRegistry, RecordedEvent, SentTrigger, Timestamp } from '#platform/kernel';

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
  /** The result of a health assessment; null for other events. */
  readonly assessment: string | null;
  /** The name of a workspace that was created or deleted. */
  readonly workspaceName: string | null;
  readonly status: string | null;
  /** When the resources of the workspace are destroyed at the earliest; null unless the event says so. */
  readonly destroyedFrom: Timestamp | null;
  /** Whether the event counts only if the run then waits for a user. */
  readonly ifWaiting: boolean;
  /** Whether the event counts only if the run is an automatic destroy. */
  readonly ifAutoDestroy: boolean;
  readonly actor: { readonly type: string; readonly id: string };
};

const DEFAULTS = { status: null, ifWaiting: false, workspaceName: null, destroyedFrom: null };

/** Returns what the event notifies about, once for each of its triggers. */
export const listNotifiedEvents = (registry: EventRegistry, event: RecordedEvent): readonly NotifiedEvent[] => {
  const { id, time, stream, organization, context, type, data } = event;
  const kind = registry[type];
  const rule = kind?.notifies?.(data as never) ?? null;
  if (!kind || !rule || organization === null) return [];
  const { trigger, also, status, ifWaiting, workspaceName, workspace, destroyedFrom } = {
    ...DEFAULTS,
    workspace: stream,
    ...rule,
  };
  const isRun = kind.stream === 'run';
  const notified = {
    event: id,
    time,
    organization,
    trigger,
    run: isRun ? stream : null,
    workspace: isRun ? null : workspace,
    assessment: kind.stream === 'asmtres' ? stream : null,
    workspaceName,
    status,
    destroyedFrom,
    ifWaiting,
    ifAutoDestroy: false,
    actor: { type: context.accessor.type, id: context.accessor.id },
  };
  return also ? [notified, { ...notified, trigger: also }] : [notified];
};

const ENDS: readonly SentTrigger[] = ['run:completed', 'run:errored'];

/** Returns the event, and the result of an automatic destroy if it ends a run. */
export const withDestroyResult = (event: NotifiedEvent): readonly NotifiedEvent[] =>
  ENDS.includes(event.trigger)
    ? [event, { ...event, trigger: 'workspace:auto_destroy_run_results', ifAutoDestroy: true }]
    : [event];
