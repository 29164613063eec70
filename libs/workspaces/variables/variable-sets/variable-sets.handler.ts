import { CommandHandler } from '@nestjs/cqrs';
import { type DataOf, Ids, Refusal, unprocessable, type Problem } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, createEventContext, RecoveryPeriod, type RecoveredResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRowOrNull,
  newStream,
  type LoadedStream,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { Vault } from '#storage/vault';
import { type NewVariable, addToStored, variable } from '../variables/variable.js';
import { refuseTakenKey } from '../variables/variables.refusals.js';
import {
  type VariableSetCommand,
  type VariableSetTargets,
  NO_TARGETS,
  VARIABLE_SET_TARGET_KINDS,
  variableSet,
  type VariableSetState,
  type VariableSetTargetKind,
} from './variable-set.js';
import { purgeVariableSet, recoverVariableSet } from './recover-variable-set.operation.js';
import {
  type VariableSetRow,
  loadOrganizationForVariableSet,
  loadVariableSetForCommand,
  selectVariableSetById,
  type OrganizationForVariableSet,
} from './variable-sets.queries.js';

type VariableSetOperations = {
  /** `variables` are created in the same append. */
  CreateVariableSet: Operation<
    {
      organization: string;
      data: DataOf<VariableSetCommand, 'CreateVariableSet'>;
      variables: readonly NewVariable[];
      actor: Actor;
    },
    VariableSetRow
  >;
  /** `variables` are added in the same append. Resolves to null if the set has been deleted meanwhile. */
  UpdateVariableSet: Operation<
    {
      id: string;
      data: DataOf<VariableSetCommand, 'UpdateVariableSet'>;
      variables: readonly NewVariable[];
      actor: Actor;
    },
    VariableSetRow | null
  >;
  ApplyVariableSet: Operation<{ id: string; targets: VariableSetTargets; actor: Actor }, void>;
  WithdrawVariableSet: Operation<{ id: string; targets: VariableSetTargets; actor: Actor }, void>;
  DeleteVariableSet: Operation<{ id: string; actor: Actor }, void>;
  /** Brings a deleted set back, under another name if there is one in the request. */
  RecoverVariableSet: Operation<{ id: string; name: string | undefined; actor: Actor }, RecoveredResource>;
  PurgeVariableSet: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeVariableSet<T extends keyof VariableSetOperations> extends AggregateCommand<
  VariableSetOperations,
  T
> {}

/** A command to a variable set, with the variables that the same append creates. */
type VariableSetTask = {
  readonly command: VariableSetCommand;
  readonly variables: readonly NewVariable[];
  /** Workspaces and projects that the command applies the set to. */
  readonly targets: VariableSetTargets;
  /** Path in the request of the list with targets of this kind. */
  readonly pointer: (kind: VariableSetTargetKind) => string;
  readonly actor: Actor;
};

const toRelationshipPointer = (kind: VariableSetTargetKind): string => `/data/relationships/${kind}/data`;

const TARGET_NAMES = { workspaces: 'Workspace', projects: 'Project' } as const;

/** Refuses targets outside of the organization. If a project owns the set, refuses targets outside of the project. */
const checkTargets = (
  { targets: requested, pointer }: VariableSetTask,
  { project, targets }: OrganizationForVariableSet,
): void => {
  const projects = new Map(targets.map((target) => [`${target.kind} ${target.stream}`, target.project]));
  const problems = VARIABLE_SET_TARGET_KINDS.flatMap((kind) =>
    requested[kind].flatMap((id, index): Problem[] => {
      const targetProject = projects.get(`${kind} ${id}`);
      if (targetProject !== undefined && (project === null || targetProject === project)) return [];
      // The text does not reveal to users of one project what exists outside of it.
      const reason = project === null ? 'does not exist' : 'is outside of the project that owns the variable set';
      return [{ detail: `${TARGET_NAMES[kind]} ${id} ${reason}`, pointer: `${pointer(kind)}/${index}/id` }];
    }),
  );
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * The append fails if the owner or a target of the set is deleted meanwhile, because the rows of the set would stay.
 */
const buildPreconditions = ({ preconditions, targets }: OrganizationForVariableSet): StreamWrite[] => [
  ...new Map(
    [...preconditions, ...targets].map(({ stream, version }) => [stream, expectVersion(stream, version)]),
  ).values(),
];

const refuseTaken = refuseTakenName('variable_sets_organization_name_key');

/** Prefixes the pointers of a refusal with the position of the variable in the request. */
const atListIndex = <T>(index: number, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problems = error.problems.map(({ pointer, ...problem }) => ({
      ...problem,
      pointer: `/data/relationships/vars/data/${index}${(pointer ?? '').replace(/^\/data/, '')}`,
    }));
    throw new Refusal(error.kind, problems);
  }
};

@CommandHandler(ChangeVariableSet)
export class VariableSetsHandler extends AggregateHandler<VariableSetOperations> {
  protected readonly operations: OperationTable<VariableSetOperations> = {
    CreateVariableSet: (input) => this.create(input),
    UpdateVariableSet: ({ id, data, variables, actor }) =>
      this.change(id, {
        command: { type: 'UpdateVariableSet', data },
        variables,
        targets: { ...NO_TARGETS, ...data.targets },
        pointer: toRelationshipPointer,
        actor,
      }),
    ApplyVariableSet: async ({ id, targets, actor }) => {
      const command = { type: 'ApplyVariableSet', data: targets } as const;
      await this.change(id, { command, variables: [], targets, pointer: () => '/data', actor });
    },
    // The targets are not checked: a target can be withdrawn from the set after it has been deleted.
    WithdrawVariableSet: ({ id, targets, actor }) =>
      this.changeWithoutTargets(id, { type: 'WithdrawVariableSet', data: targets }, actor),
    DeleteVariableSet: ({ id, actor }) => {
      const recoverableUntil = this.recoveryPeriod.computeEnd();
      return this.changeWithoutTargets(id, { type: 'DeleteVariableSet', data: { recoverableUntil } }, actor);
    },
    RecoverVariableSet: (input) => recoverVariableSet(this.store, input),
    PurgeVariableSet: (input) => purgeVariableSet(this.store, input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
    private readonly recoveryPeriod: RecoveryPeriod,
  ) {
    super();
  }

  private async create(input: VariableSetOperations['CreateVariableSet']['input']): Promise<VariableSetRow> {
    const { organization, data, variables, actor } = input;
    const { project, targets } = data;
    const id = this.ids.next('varset');
    const command = { type: 'CreateVariableSet', data } as const;
    const row = await this.store
      .retryOnConflict(async () => {
        const { database } = this.store;
        const parent = await loadOrganizationForVariableSet(database, actor, organization, project, targets);
        if (project !== parent.project) {
          throw unprocessable('Project does not exist', '/data/relationships/parent/data/id');
        }
        const task = { command, variables, targets, pointer: toRelationshipPointer, actor };
        return this.append(newStream(id, variableSet), parent, task);
      })
      .catch(refuseTaken)
      .catch(refuseTakenKey);
    return row as VariableSetRow;
  }

  private async changeWithoutTargets(id: string, command: VariableSetCommand, actor: Actor): Promise<void> {
    await this.change(id, { command, variables: [], targets: NO_TARGETS, pointer: toRelationshipPointer, actor });
  }

  private change(id: string, task: VariableSetTask): Promise<VariableSetRow | null> {
    return this.store
      .retryOnConflict(async () => {
        const row = await loadVariableSetForCommand(this.store.database, task.actor, id, task.targets);
        const loaded = await this.store.restore(id, variableSet, row.snapshot);
        return this.append(loaded, row, task);
      })
      .catch(refuseTaken)
      .catch(refuseTakenKey);
  }

  /** Appends the events of the set and of its new variables. */
  private async append(
    loaded: LoadedStream<VariableSetState>,
    parent: OrganizationForVariableSet,
    task: VariableSetTask,
  ): Promise<VariableSetRow | null> {
    checkTargets(task, parent);
    const write = decideWrite(variableSet, loaded, parent.organization, task.command);
    const newVariables = this.prepareVariables(loaded.stream, parent, task.variables);
    const read = selectVariableSetById(loaded.stream, task.actor);
    if (write.events.length === 0 && newVariables.length === 0) {
      return (await this.store.database.row<VariableSetRow>(read)) ?? null;
    }
    const { rows } = await this.store.append(
      [...buildPreconditions(parent), write, ...newVariables.map((prepared) => prepared.write)],
      createEventContext(task.actor),
      [read, ...newVariables.flatMap(({ statements }) => statements)],
    );
    return getFirstRowOrNull<VariableSetRow>(rows);
  }

  private prepareVariables(
    set: string,
    { organization, variables: stored }: OrganizationForVariableSet,
    variables: readonly NewVariable[],
  ) {
    const owner = { type: 'varsets', id: set } as const;
    variables.reduce((sum, data, index) => atListIndex(index, () => addToStored(sum, data)), stored);
    return variables.map((data, index) => {
      const id = this.ids.next('var');
      const command = { type: 'CreateVariable', data: { ...data, owner } } as const;
      return {
        write: atListIndex(index, () => decideWrite(variable, newStream(id, variable), organization, command)),
        statements: data.sensitive ? [this.vault.storeSecret(id, organization, data.value)] : [],
      };
    });
  }
}
