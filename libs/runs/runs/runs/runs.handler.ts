import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids, KeyedMutex, Quotas } from '#platform/kernel';
import { AggregateHandler, EventStore, type OperationTable } from '#storage/event-store';
import { toActingPrincipal } from '#api/access';
import { ToolReleases } from '#workspaces/workspaces';
import { JobValuesStore } from '../job-values/job-values.service.js';
import { claimRun } from './claim-run.operation.js';
import { commentRun } from './comment-run.operation.js';
import { issueRunToken } from './issue-run-token.operation.js';
import { changeRun, createCancellation } from './change-run.operation.js';
import { createRun } from './create-run.operation.js';
import { RunChanges } from './run-changes.service.js';
import { SiteRunLimit } from './run-leases.queries.js';
import { ChangeRun, type RunActionInput, type RunOperations } from './runs.commands.js';
import type { RunRow } from './runs.queries.js';
import { RunVariables } from './runs.variables.js';

@CommandHandler(ChangeRun)
export class RunsHandler extends AggregateHandler<RunOperations> {
  protected readonly operations: OperationTable<RunOperations> = {
    CreateRun: (input) => createRun(this.dependencies, input),
    ConfirmRun: (input) =>
      this.change(input, {
        type: 'ConfirmRun',
        data: { confirmedBy: toActingPrincipal(input.actor) },
      }),
    DiscardRun: (input) => this.change(input, { type: 'DiscardRun', data: {} }),
    CancelRun: (input) => this.change(input, createCancellation(this.dependencies.clock.now())),
    ForceCancelRun: (input) =>
      this.change(input, {
        type: 'ForceCancelRun',
        data: { at: this.dependencies.clock.now().toISOString() },
      }),
    ForceCancelAnyRun: (input) => this.change(input, { type: 'ForceCancelRun', data: { at: null } }),
    ForceExecuteRun: (input) => this.change(input, { type: 'ForceExecuteRun', data: {} }),
    ReportProgress: ({ id, progress, actor }) =>
      this.change({ id, comment: null, actor }, { type: 'ReportProgress', data: progress }),
    // Without it, executors that wait for the same runs would all choose the first one, and all but one in vain.
    ClaimRun: (input) => this.claims.take(input.actor.id, () => claimRun(this.dependencies, input)),
    CommentRun: (input) => commentRun(this.dependencies, input),
    IssueRunToken: (input) => issueRunToken(this.dependencies, input),
  };

  private readonly dependencies: {
    readonly store: EventStore;
    readonly ids: Ids;
    readonly clock: Clock;
    readonly variables: RunVariables;
    readonly values: JobValuesStore;
    readonly releases: ToolReleases;
    readonly siteRunLimit: SiteRunLimit;
    readonly quotas: Quotas;
  };
  private readonly claims = new KeyedMutex();

  constructor(
    store: EventStore,
    ids: Ids,
    clock: Clock,
    variables: RunVariables,
    values: JobValuesStore,
    releases: ToolReleases,
    siteRunLimit: SiteRunLimit,
    quotas: Quotas,
    private readonly changes: RunChanges,
  ) {
    super();
    this.dependencies = { store, ids, clock, variables, values, releases, siteRunLimit, quotas };
  }

  private async change(input: RunActionInput, command: Parameters<typeof changeRun>[2]): Promise<RunRow> {
    const row = await changeRun(this.dependencies, input, command);
    this.changes.continueReads(input.id);
    return row;
  }
}
