import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  getFirstRowOrNull,
  newStream,
  type OperationTable,
  type StreamVersion,
  type StreamWrite,
} from '#storage/event-store';
import { refuseTakenName } from '#platform/postgres';
import { createEventContext, type Actor } from '#api/access';
import { prepareWorkloadTokenDestruction, type TokenDestruction } from '#identity/people';
import { ChangeWorkloadIdentity, type WorkloadIdentityOperations } from './workload-identities.commands.js';
import {
  loadTeamForNewIdentity,
  loadWorkloadIdentity,
  selectWorkloadIdentityById,
  type WorkloadIdentityForCommand,
  type WorkloadIdentityRow,
} from './workload-identities.queries.js';
import { workloadIdentity, type WorkloadIdentityCommand } from './workload-identity.js';

/** The most identities of a team: a list of this size is still readable. */
export const MAX_IDENTITIES_PER_TEAM = 100;

type WorkloadIdentityChange = Extract<
  WorkloadIdentityCommand,
  { type: 'UpdateWorkloadIdentity' | 'DeleteWorkloadIdentity' }
>;

const NO_TOKENS: TokenDestruction = { writes: [], statements: [] };

const refuseTaken = refuseTakenName('workload_identities_team_name_key');

const toPreconditions = (versions: readonly StreamVersion[]): StreamWrite[] =>
  versions.map(({ stream, version }) => expectVersion(stream, version));

/** Returns whether the command ends the tokens of the identity. */
const mustEndTokens = (command: WorkloadIdentityChange): boolean =>
  command.type === 'DeleteWorkloadIdentity' || command.data.changes.enabled === false;

@CommandHandler(ChangeWorkloadIdentity)
export class WorkloadIdentitiesHandler extends AggregateHandler<WorkloadIdentityOperations> {
  protected readonly operations: OperationTable<WorkloadIdentityOperations> = {
    CreateWorkloadIdentity: (input) => this.create(input),
    UpdateWorkloadIdentity: ({ id, changes, actor }) =>
      this.change(id, { type: 'UpdateWorkloadIdentity', data: { changes } }, actor),
    DeleteWorkloadIdentity: async ({ id, actor }) => {
      await this.change(id, { type: 'DeleteWorkloadIdentity', data: {} }, actor);
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  private async create(
    input: WorkloadIdentityOperations['CreateWorkloadIdentity']['input'],
  ): Promise<WorkloadIdentityRow> {
    const { team, settings, actor } = input;
    const id = this.ids.next('wid');
    const { rows } = await this.store
      .handle({
        decider: workloadIdentity,
        load: async () => {
          const parent = await loadTeamForNewIdentity(this.store.database, actor, team);
          if (parent.existing >= MAX_IDENTITIES_PER_TEAM) {
            throw unprocessable(`A team can have at most ${MAX_IDENTITIES_PER_TEAM} workload identities. Delete one`);
          }
          return { ...newStream(id, workloadIdentity), parent };
        },
        command: () => ({ type: 'CreateWorkloadIdentity', data: { team, settings } }) as const,
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => toPreconditions(parent.preconditions),
        context: createEventContext(actor),
        read: () => [selectWorkloadIdentityById(id)],
      })
      .catch(refuseTaken);
    return getFirstRow<WorkloadIdentityRow>(rows);
  }

  private async change(id: string, command: WorkloadIdentityChange, actor: Actor): Promise<WorkloadIdentityRow | null> {
    const endsTokens = mustEndTokens(command);
    const { rows } = await this.store
      .handle({
        decider: workloadIdentity,
        load: async () => {
          const row = await loadWorkloadIdentity(this.store.database, actor, id, { endsTokens });
          const loaded = await this.store.restore(id, workloadIdentity, row.snapshot);
          return { ...loaded, row, ended: endsTokens ? await this.prepareTokenEnds(row) : NO_TOKENS };
        },
        command: () => command,
        organization: ({ row }) => row.organization,
        preconditions: ({ row, ended }) => [...toPreconditions(row.preconditions), ...ended.writes],
        context: createEventContext(actor),
        read: ({ ended }) => [selectWorkloadIdentityById(id), ...ended.statements],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<WorkloadIdentityRow>(rows);
  }

  private prepareTokenEnds({ id: identity, team, tokens }: WorkloadIdentityForCommand): Promise<TokenDestruction> {
    return prepareWorkloadTokenDestruction(this.store, { identity, team }, tokens);
  }
}
