import { Command } from '@nestjs/cqrs';
import type { Actor } from '#access';
import type { IssuedToken } from '#people/to-people';

/** What a run means for others, for who keeps something of runs as well. */
export { STATUS_AFTER, waitsItsTurn } from './run-state.js';
export { FINAL_STATUSES, RUN_STATUSES, type RunStatus } from './run-status.js';
export { COUNTED, MEASURES, METRICS, WINDOW } from './runs.metrics.js';

/** A token for a run. People keep it with all others; whose the run is to execute is known here alone. */
export class IssueRunToken extends Command<IssuedToken> {
  constructor(
    readonly run: string,
    readonly actor: Actor,
  ) {
    super();
  }
}
