import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, Refusal, unprocessable, type Problem } from '#kernel';
import {
  EventStore,
  getFirstRowOrNull,
  newStream,
  expectVersion,
  decideWrite,
  type LoadedStream,
  type StreamWrite,
} from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { Vault } from '#vault';
import {
  VARIABLE_SET_TARGET_KINDS,
  NO_TARGETS,
  variableSet,
  type VariableSetTargets,
  type VariableSetState,
  type VariableSetCommand,
} from './variable-set.js';
import {
  loadOrganizationForVariableSet,
  selectVariableSetById,
  loadVariableSetForCommand,
  type OrganizationForVariableSet,
  type VariableSetRow,
} from './variable-sets.queries.js';
import { addToStored, variable, type NewVariable } from '../variables/variable.js';
import { refuseTakenKey } from '../variables/variables.handler.js';

type CreateVariableSetCommand = Extract<VariableSetCommand, { type: 'CreateVariableSet' }>;

export class CreateVariableSet extends Command<VariableSetRow> {
  constructor(
    readonly organization: string,
    readonly data: CreateVariableSetCommand['data'],
    readonly variables: readonly NewVariable[],
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Changes or deletes a variable set, and creates variables in it. Returns the row, or null after a deletion. */
export class ChangeVariableSet extends Command<VariableSetRow | null> {
  constructor(
    readonly id: string,
    readonly command: Exclude<VariableSetCommand, CreateVariableSetCommand>,
    readonly variables: readonly NewVariable[],
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Returns the targets that the command applies the set to. Targets that it withdraws need not exist any more. */
const getTargets = (command: VariableSetCommand): VariableSetTargets => {
  switch (command.type) {
    case 'CreateVariableSet':
    case 'UpdateVariableSet':
      return { ...NO_TARGETS, ...command.data.targets };
    case 'ApplyVariableSet':
      return command.data;
    case 'WithdrawVariableSet':
    case 'DeleteVariableSet':
      return NO_TARGETS;
  }
};

const TARGET_NAMES = { workspaces: 'Workspace', projects: 'Project' } as const;

/** Refuses targets outside the organization, or outside the project that owns the set. */
const checkTargets = (command: VariableSetCommand, { project, targets }: OrganizationForVariableSet): void => {
  const projectsByTarget = new Map(targets.map((target) => [`${target.kind} ${target.stream}`, target.project]));
  const targetIds = getTargets(command);
  const problems = VARIABLE_SET_TARGET_KINDS.flatMap((kind) =>
    targetIds[kind].flatMap((id, index): Problem[] => {
      const targetProject = projectsByTarget.get(`${kind} ${id}`);
      if (targetProject !== undefined && (project === null || targetProject === project)) return [];
      const list = command.type === 'ApplyVariableSet' ? '/data' : `/data/relationships/${kind}/data`;
      // The text does not reveal whether the target exists, because the caller may only know the project.
      const why = project === null ? 'does not exist' : 'is outside of the project that owns the variable set';
      return [{ detail: `${TARGET_NAMES[kind]} ${id} ${why}`, pointer: `${list}/${index}/id` }];
    }),
  );
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * Requires that the owner and the targets of the set are not deleted in between, because their deletion would miss the
 * new rows.
 */
const buildPreconditions = ({ preconditions, targets }: OrganizationForVariableSet): StreamWrite[] => [
  ...new Map(
    [...preconditions, ...targets].map(({ stream, version }) => [stream, expectVersion(stream, version)]),
  ).values(),
];

const refuseTaken = refuseTakenName('variable_sets_organization_name_key');

/** Adds the index of a variable in the request to the pointers of a refusal. */
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

/** Appends the events of a command for a set and of its new variables, all or none. */
class SetWriter {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly ids: Ids,
  ) {}

  async write(
    loaded: LoadedStream<VariableSetState>,
    organizationRow: OrganizationForVariableSet,
    { command, variables, actor }: { command: VariableSetCommand; variables: readonly NewVariable[]; actor: Actor },
  ): Promise<VariableSetRow | null> {
    const { organization } = organizationRow;
    checkTargets(command, organizationRow);
    const set = decideWrite(variableSet, loaded, organization, command);
    const owner = { type: 'varsets', id: loaded.stream } as const;
    variables.reduce(
      (stored, data, index) => atListIndex(index, () => addToStored(stored, data)),
      organizationRow.variables,
    );
    const newVariables = variables.map((data, index) => {
      const id = this.ids.next('var');
      const creation = { type: 'CreateVariable', data: { ...data, owner } } as const;
      return {
        write: atListIndex(index, () => decideWrite(variable, newStream(id, variable), organization, creation)),
        secretStatements: data.sensitive ? [this.vault.storeSecret(id, organization, data.value)] : [],
      };
    });
    const read = selectVariableSetById(loaded.stream, actor);
    if (set.events.length === 0 && newVariables.length === 0) {
      return (await this.store.database.row<VariableSetRow>(read)) ?? null;
    }
    const { rows } = await this.store.append(
      [...buildPreconditions(organizationRow), set, ...newVariables.map(({ write }) => write)],
      createEventContext(actor),
      [read, ...newVariables.flatMap(({ secretStatements }) => secretStatements)],
    );
    return getFirstRowOrNull<VariableSetRow>(rows);
  }
}

@CommandHandler(CreateVariableSet)
export class CreateVariableSetHandler implements ICommandHandler<CreateVariableSet> {
  private readonly writer: SetWriter;

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    vault: Vault,
  ) {
    this.writer = new SetWriter(store, vault, ids);
  }

  async execute({ organization, data, variables, actor }: CreateVariableSet): Promise<VariableSetRow> {
    const id = this.ids.next('varset');
    const command = { type: 'CreateVariableSet', data } as const;
    const row = await this.store
      .untilFirst(async () => {
        const organizationRow = await loadOrganizationForVariableSet(
          this.store.database,
          actor,
          organization,
          data.project,
          data.targets,
        );
        if (data.project !== organizationRow.project) {
          throw unprocessable('Project does not exist', '/data/relationships/parent/data/id');
        }
        return this.writer.write(newStream(id, variableSet), organizationRow, { command, variables, actor });
      })
      .catch(refuseTaken)
      .catch(refuseTakenKey);
    return row as VariableSetRow;
  }
}

@CommandHandler(ChangeVariableSet)
export class VariableSetsHandler implements ICommandHandler<ChangeVariableSet> {
  private readonly writer: SetWriter;

  constructor(
    private readonly store: EventStore,
    ids: Ids,
    vault: Vault,
  ) {
    this.writer = new SetWriter(store, vault, ids);
  }

  async execute({ id, command, variables, actor }: ChangeVariableSet): Promise<VariableSetRow | null> {
    return this.store
      .untilFirst(async () => {
        const organizationRow = await loadVariableSetForCommand(this.store.database, actor, id, getTargets(command));
        const loaded = await this.store.restore(id, variableSet, organizationRow.snapshot);
        return this.writer.write(loaded, organizationRow, { command, variables, actor });
      })
      .catch(refuseTaken)
      .catch(refuseTakenKey);
  }
}
