import { CommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type OperationTable,
} from '#storage/event-store';
import { prepareWorkloadTokenDestruction, type TokenDestruction } from '#identity/people';
import {
  type WorkloadIdentityRow,
  loadTeamForNewIdentity,
  loadWorkloadIdentity,
  selectWorkloadIdentityById,
  type WorkloadIdentityForCommand,
} from './workload-identities.view.js';
import {
  type NewWorkloadIdentity,
  type WorkloadIdentityChanges,
  workloadIdentity,
  type WorkloadIdentityCommand,
} from './workload-identity.js';

type WorkloadIdentityOperations = {
  CreateWorkloadIdentity: Operation<{ team: string; settings: NewWorkloadIdentity; actor: Actor }, WorkloadIdentityRow>;
  /** Disabling an identity ends its tokens. Resolves to null if it has been deleted meanwhile. */
  UpdateWorkloadIdentity: Operation<
    { id: string; changes: WorkloadIdentityChanges; actor: Actor },
    WorkloadIdentityRow | null
  >;
  /** Also ends the tokens of the identity. */
  DeleteWorkloadIdentity: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeWorkloadIdentity<T extends keyof WorkloadIdentityOperations> extends AggregateCommand<
  WorkloadIdentityOperations,
  T
> {}

/** The most identities of a team: a list of this size is still readable. */
export const MAX_IDENTITIES_PER_TEAM = 100;

type WorkloadIdentityChange = Extract<
  WorkloadIdentityCommand,
  { type: 'UpdateWorkloadIdentity' | 'DeleteWorkloadIdentity' }
>;

const NO_TOKENS: TokenDestruction = { writes: [], statements: [] };

const refuseTaken = refuseTakenName('workload_identities_team_name_key');

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
    const rows = await createResource(this.store, workloadIdentity, {
      id,
      actor,
      load: async () => {
        const parent = await loadTeamForNewIdentity(this.store.database, actor, team);
        if (parent.existing >= MAX_IDENTITIES_PER_TEAM) {
          throw unprocessable(`A team can have at most ${MAX_IDENTITIES_PER_TEAM} workload identities. Delete one`);
        }
        return parent;
      },
      command: { type: 'CreateWorkloadIdentity', data: { team, settings } },
      read: () => [selectWorkloadIdentityById(id)],
    }).catch(refuseTaken);
    return getFirstRow<WorkloadIdentityRow>(rows);
  }

  private async change(id: string, command: WorkloadIdentityChange, actor: Actor): Promise<WorkloadIdentityRow | null> {
    const endsTokens = mustEndTokens(command);
    const rows = await changeResource(this.store, workloadIdentity, {
      actor,
      load: async () => {
        const row = await loadWorkloadIdentity(this.store.database, actor, id, { endsTokens });
        return { ...row, ended: endsTokens ? await this.prepareTokenEnds(row) : NO_TOKENS };
      },
      command,
      writes: ({ ended }) => ended.writes,
      read: ({ ended }) => [selectWorkloadIdentityById(id), ...ended.statements],
    }).catch(refuseTaken);
    return getFirstRowOrNull<WorkloadIdentityRow>(rows);
  }

  private prepareTokenEnds({ id: identity, team, tokens }: WorkloadIdentityForCommand): Promise<TokenDestruction> {
    return prepareWorkloadTokenDestruction(this.store, { identity, team }, tokens);
  }
}
