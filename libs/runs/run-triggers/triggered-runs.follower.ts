import { Logger } from '@nestjs/common';
import { Refusal, sql, type RecordedEvent, type Sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { continueTrace } from '#platform/tracing';
import type { EventStore, Follower } from '#storage/event-store';
import { createServerRun, deriveId } from '#runs/runs';
import type { ToolReleases } from '#workspaces/workspaces';

/** A workspace that waits with more runs than this gets no further ones: each run will read the newest state anyway. */
const MAX_WAITING_RUNS = 100;

/** A run that starts because the source applied a run. */
type TriggeredRun = { readonly workspace: string; readonly source: string; readonly cause: string };

/** Selects the workspaces of triggers that existed at the time of an apply. An apply that destroys everything starts no runs. */
const selectTriggered = (events: readonly RecordedEvent[]): Sql => sql`
  select t.workspace, t.source, applied.run as cause
    from jsonb_to_recordset(${sql.json(events.map(({ stream, time }) => ({ run: stream, time })))}::jsonb)
           as applied (run text, time timestamptz)
    join runs r on r.id = applied.run and not coalesce((r.options ->> 'isDestroy')::boolean, false)
    join run_triggers t on t.source = r.workspace and t.fires_from <= applied.time
    join workspaces s on s.id = t.source join workspaces w on w.id = t.workspace
   order by applied.time, applied.run, t.created_at, t.id`;

/** Returns the same id for the same apply and workspace, so that a repeated batch starts no second run. */
const toRunId = ({ workspace, cause }: TriggeredRun): string => deriveId('run', `${cause} ${workspace}`);

const startRun = async (
  store: EventStore,
  releases: ToolReleases,
  newRun: TriggeredRun,
  event: RecordedEvent | undefined,
): Promise<void> => {
  const { workspace, source, cause } = newRun;
  const context = {
    ...createSystemContext('run triggers', event?.context.correlation ?? ''),
    causation: event?.id ?? null,
  };
  await createServerRun(
    store,
    releases,
    {
      id: toRunId(newRun),
      workspace,
      message: `Triggered by the apply of ${cause}`,
      source: 'tfe-run-trigger',
      createdBy: context.accessor,
      decideOptions: ({ autoApplyRunTrigger, waiting }) =>
        waiting < MAX_WAITING_RUNS
          ? { autoApply: autoApplyRunTrigger, triggeredBy: { workspace: source, run: cause } }
          : null,
    },
    context,
  );
};

const logger = new Logger('TriggeredRuns');

/**
 * Starts the runs, each independently of the others. A workspace whose rules refuse the run gets none. If another error occurs,
 * the others get their runs first. Then the follower fails and gets the events again.
 */
const startRuns = async (
  triggered: readonly TriggeredRun[],
  start: (newRun: TriggeredRun) => Promise<void>,
): Promise<void> => {
  const failures: unknown[] = [];
  for (const newRun of triggered) {
    try {
      await start(newRun);
    } catch (error) {
      if (error instanceof Refusal && error.kind !== 'conflict') {
        logger.warn({ err: error, ...newRun, message: 'a workspace refused a run of a run trigger' });
      } else failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};

/** Starts a run in each workspace of which the source has applied a run. */
export const createTriggeredRunsFollower = (releases: ToolReleases): Follower => ({
  name: 'triggered_runs',
  batch: 100,
  only: ['RunApplied'],
  // It uses no names.
  keepEncrypted: true,
  tables: [],
  follow: async (events, session, store) => {
    const causes = new Map(events.filter(({ type }) => type === 'RunApplied').map((event) => [event.stream, event]));
    if (causes.size === 0) return [];
    const triggered = await session.run<TriggeredRun>(selectTriggered([...causes.values()]));
    await startRuns(triggered, (newRun) => {
      const event = causes.get(newRun.cause);
      return continueTrace(event?.traceparent, 'start triggered run', {}, () =>
        startRun(store, releases, newRun, event),
      );
    });
    return [];
  },
});
