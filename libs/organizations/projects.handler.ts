import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql, type BindingsHow, type Sql, type Tag } from '#kernel';
import {
  EventStore,
  firstRow,
  firstRowOrNull,
  refuseTakenName,
  staleWhen,
  unborn,
  unchanged,
  type Row,
  type Write,
} from '#event-store';
import { contextOf, demand, type Actor, type Permission } from '#access';
import { heldPool } from '#agents';
import { bindingsOfProjects, type BindingRow } from '#tag-bindings';
import { POOL, project, type ProjectCommand } from './project.js';
import { organizationForCommand } from './organizations.queries.js';
import { projectById, projectFor, type ProjectForCommand, type ProjectRow } from './projects.queries.js';

type BirthCommand = Extract<ProjectCommand, { type: 'CreateProject' }>;
type LaterCommand =
  Exclude<ProjectCommand, BirthCommand | { type: 'DeleteProject' }> | { readonly type: 'DeleteProject' };

export class CreateProject extends Command<ProjectRow> {
  constructor(
    readonly organization: string,
    readonly command: BirthCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one project; resolves to how it stands then, null when it is gone. */
export class ToProject extends Command<ProjectRow | null> {
  constructor(
    readonly id: string,
    readonly command: LaterCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Bindings for one project; resolves to all that it has then. */
export class BindToProject extends Command<readonly BindingRow[]> {
  constructor(
    readonly id: string,
    readonly bindings: readonly Tag[],
    readonly how: BindingsHow,
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = {
  UpdateProject: 'update-project',
  BindProjectTags: 'update-project',
  DeleteProject: 'delete-project',
} as const satisfies Record<LaterCommand['type'], Permission>;

/** The pool that a command names. */
const poolOf = (command: BirthCommand | LaterCommand): string | null => {
  if (command.type === 'DeleteProject' || command.type === 'BindProjectTags') return null;
  const input = command.type === 'CreateProject' ? command.data : command.data.changes;
  return input.follows ? null : input.defaultAgentPoolId || null;
};

const refuseTaken = refuseTakenName('projects_organization_name_key');

@CommandHandler(CreateProject)
export class CreateProjectHandler implements ICommandHandler<CreateProject> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ organization, command, actor }: CreateProject): Promise<ProjectRow> {
    const id = this.ids.next('prj');
    const pool = poolOf(command);
    const { rows } = await this.store
      .handle({
        decider: project,
        load: async () => ({
          ...unborn(id, project),
          owner: await organizationForCommand(this.store.database, actor, 'create-project', organization, pool),
        }),
        command: () => command,
        organization: ({ owner }) => owner.id,
        holding: ({ owner }) => [
          unchanged(owner.id, owner.snapshot.version),
          ...heldPool(pool, owner.poolVersion, { pointer: POOL }),
        ],
        context: contextOf(actor),
        read: () => [projectById(id, actor)],
      })
      .catch(refuseTaken);
    return firstRow<ProjectRow>(rows);
  }
}

/** The organization's deletion takes all bindings along; those that came after it would stay. */
const leavesRows = (command: LaterCommand): boolean =>
  command.type === 'BindProjectTags' || (command.type === 'UpdateProject' && command.data.bindings !== undefined);

const heldFor = (command: LaterCommand, pool: string | null, row: ProjectForCommand): readonly Write[] => [
  ...(leavesRows(command) ? [unchanged(row.organization, row.organizationVersion)] : []),
  ...heldPool(pool, row.poolVersion, { pointer: POOL }),
];

/** Whether the command changes which agents execute the runs of the project's workspaces. */
const changesExecution = (command: LaterCommand, { settings }: ProjectForCommand): boolean => {
  if (command.type !== 'UpdateProject') return false;
  const { follows, defaultExecutionMode: mode, defaultAgentPoolId: pool } = command.data.changes;
  if (follows) return settings.defaultExecutionMode !== null;
  return (
    (mode !== undefined && mode !== settings.defaultExecutionMode) ||
    (pool !== undefined && pool !== settings.defaultAgentPoolId)
  );
};

type Told = { readonly id: string; readonly command: LaterCommand; readonly actor: Actor };

/** Resolves to what `read` finds then. */
const tell = async (store: EventStore, { id, command, actor }: Told, read: Sql): Promise<readonly Row[][]> => {
  const pool = poolOf(command);
  const { rows } = await store
    .handle({
      decider: project,
      load: async () => {
        const row = await projectFor(store.database, actor, PERMISSION[command.type], id, pool);
        if (changesExecution(command, row)) demand(actor, 'change-project-execution', row);
        return { ...(await store.restore(id, project, row.snapshot)), row };
      },
      command: ({ row }): ProjectCommand =>
        command.type === 'DeleteProject'
          ? { type: 'DeleteProject', data: { isDefault: row.isDefault, workspaces: row.allWorkspaces } }
          : command,
      organization: ({ row }) => row.organization,
      holding: ({ row }) => heldFor(command, pool, row),
      context: contextOf(actor),
      read: () => [
        read,
        // A workspace may have come in between the count and the lock.
        ...(command.type === 'DeleteProject'
          ? [staleWhen(sql`exists (select 1 from workspaces where project = ${id})`)]
          : []),
      ],
    })
    .catch(refuseTaken);
  return rows;
};

@CommandHandler(ToProject)
export class ProjectsHandler implements ICommandHandler<ToProject> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ToProject): Promise<ProjectRow | null> {
    return firstRowOrNull<ProjectRow>(await tell(this.store, { id, command, actor }, projectById(id, actor)));
  }
}

@CommandHandler(BindToProject)
export class BindToProjectHandler implements ICommandHandler<BindToProject> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, bindings, how, actor }: BindToProject): Promise<readonly BindingRow[]> {
    const command = { type: 'BindProjectTags', data: { bindings, how } } as const;
    const [rows = []] = await tell(this.store, { id, command, actor }, bindingsOfProjects(sql`${[id]}::text[]`, actor));
    return rows as unknown as readonly BindingRow[];
  }
}
