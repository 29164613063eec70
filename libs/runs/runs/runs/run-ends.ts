import type { DataOf, Projection, RecordedEvent, Sql } from '#platform/kernel';
import type { RunEvent } from './run-event.js';
import { isFinal } from './run-status.js';

/** The events after which a run has ended. A stage can be the end too. */
export type RunEndEvent = Extract<
  RunEvent,
  {
    type:
      | 'RunStageReached'
      | 'RunPlannedAndFinished'
      | 'RunApplied'
      | 'RunErrored'
      | 'RunDiscarded'
      | 'RunCanceled'
      | 'RunForceCanceled';
  }
>;

/** Returns the handlers of a projection that executes a statement when a run ends. */
export const onRunEnd = (end: (run: string) => Sql): Projection<RunEndEvent>['on'] => {
  const handle = (_: unknown, { stream }: RecordedEvent): Sql => end(stream);
  return {
    RunStageReached: ({ stage }: DataOf<RunEndEvent, 'RunStageReached'>, { stream }: RecordedEvent) =>
      isFinal(stage) ? end(stream) : null,
    RunPlannedAndFinished: handle,
    RunApplied: handle,
    RunErrored: handle,
    RunDiscarded: handle,
    RunCanceled: handle,
    RunForceCanceled: handle,
  };
};
