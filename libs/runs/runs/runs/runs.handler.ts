import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids, KeyedMutex, Quotas } from '#platform/kernel';
import { AggregateHandler, EventStore, type OperationTable } from '#storage/event-store';
import { toActingPrincipal, type Actor } from '#api/access';
import { Vault } from '#storage/vault';
import { ToolReleases } from '#workspaces/workspaces';
import { JobValuesStore } from '../job-values/job-values.service.js';
import { findOverrideObstacle, type RunAuthors } from '../policy-evaluations/override-obstacle.js';
import { storePolicyOutputs } from './policy-outputs.queries.js';
import { createPolicyChoice } from './policy-choice.ids.js';
import { claimRun } from './claim-run.operation.js';
import { commentRun } from './comment-run.operation.js';
import { issueRunToken } from './issue-run-token.operation.js';
import { changeRun, createCancellation, type RequestedCommand } from './change-run.operation.js';
import { createRun } from './create-run.operation.js';
import { RunChanges } from './run-changes.service.js';
import { SiteRunLimit } from './run-leases.queries.js';
import { ChangeRun, type RunActionInput, type RunOperations } from './runs.commands.js';
import type { RunEvent } from './run-event.js';
import type { RunForCommand, RunRow } from './runs.queries.js';
import { RunVariables } from './runs.variables.js';

const describeOverrider = (actor: Actor, authors: RunAuthors) => ({
  overriddenBy: toActingPrincipal(actor),
  obstacle: findOverrideObstacle(actor, authors),
});

const pickSubject = ({ workspaceName, runMessage }: RunForCommand) => ({ workspaceName, runMessage });

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
      this.change(
        { id, comment: null, actor },
        {
          type: 'ReportProgress',
          complete: (row) => ({
            type: 'ReportProgress',
            data: { ...progress, policies: { ...pickSubject(row), choice: createPolicyChoice(row, progress.fence) } },
          }),
          store: ({ organization }, events) =>
            storePolicyOutputs(
              this.dependencies.vault,
              organization,
              events as readonly RunEvent[],
              progress.policyResults,
            ),
        },
      ),
    OverridePolicies: ({ stage, comment, ...input }) =>
      this.change(
        // The run shows the comment too.
        { ...input, comment },
        {
          type: 'OverridePolicies',
          complete: ({ authors }) => ({
            type: 'OverridePolicies',
            data: { taskStage: stage, comment, ...describeOverrider(input.actor, authors) },
          }),
        },
      ),
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
    readonly vault: Vault;
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
    vault: Vault,
    releases: ToolReleases,
    siteRunLimit: SiteRunLimit,
    quotas: Quotas,
    private readonly changes: RunChanges,
  ) {
    super();
    this.dependencies = { store, ids, clock, variables, values, vault, releases, siteRunLimit, quotas };
  }

  private async change(input: RunActionInput, command: RequestedCommand): Promise<RunRow> {
    const row = await changeRun(this.dependencies, input, command);
    this.changes.continueReads(input.id);
    return row;
  }
}
