import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { IssuedToken } from '#identity/people';
import type { CommentRow } from '../run-events/run-events.queries.js';
import type { ClaimablePhase } from './run-leases.queries.js';
import type { RunSource } from './run-event.js';
import type { RunOptions } from './run-options.js';
import type { RunProgress } from './run.js';
import type { RunRow } from './runs.queries.js';
import type { RunVariable } from './runs.variables.js';

/** The attributes of a new run in a request. The workspace and the configuration version supply the others. */
export type NewRun = {
  readonly workspace: string;
  readonly configurationVersion: string | null;
  readonly message: string;
  readonly source: RunSource;
  readonly options: Partial<Omit<RunOptions, 'variables'>>;
  readonly variables: readonly RunVariable[];
};

/** An action on one run, with the comment that the caller adds to it. */
export type RunActionInput = { id: string; comment: string | null; actor: Actor };

export type RunOperations = {
  CreateRun: Operation<{ newRun: NewRun; actor: Actor }, RunRow>;
  ConfirmRun: Operation<RunActionInput, RunRow>;
  DiscardRun: Operation<RunActionInput, RunRow>;
  CancelRun: Operation<RunActionInput, RunRow>;
  ForceCancelRun: Operation<RunActionInput, RunRow>;
  /** For administrators of the site: at once, whatever the run does. */
  ForceCancelAnyRun: Operation<RunActionInput, RunRow>;
  ForceExecuteRun: Operation<RunActionInput, RunRow>;
  ReportProgress: Operation<{ id: string; progress: RunProgress; actor: Actor }, RunRow>;
  /** Lets a run continue although its policies have failed. */
  OverridePolicies: Operation<RunActionInput & { stage: string }, RunRow>;
  /** The next run that waits for the agent's pool; null if none waits. */
  ClaimRun: Operation<{ agent: string; phases: readonly ClaimablePhase[]; actor: Actor }, RunRow | null>;
  CommentRun: Operation<{ id: string; body: string; actor: Actor }, CommentRow>;
  /** Appends to the stream of the token, at the current version of the run's stream. */
  IssueRunToken: Operation<{ id: string; actor: Actor }, IssuedToken>;
};

export class ChangeRun<T extends keyof RunOperations> extends AggregateCommand<RunOperations, T> {}
