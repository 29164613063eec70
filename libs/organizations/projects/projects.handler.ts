import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql, type BindingMode, type Sql, type Tag } from '#kernel';
import {
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  newStream,
  expectVersion,
  type StreamWrite,
} from '#event-store';
import { refuseTakenName, type DatabaseRow } from '#postgres';
import { createEventContext, requirePermission, type Actor, type Permission } from '#access';
import { expectPoolVersion } from '#agents';
import { selectProjectBindings, type BindingRow } from '#tag-bindings';
import { PROJECT_POOL_POINTER, project, type ProjectCommand } from './project.js';
import { loadOrganizationForCommand } from '../organizations/organizations.queries.js';
import { selectProjectById, findProject, type ProjectForCommand, type ProjectRow } from './projects.queries.js';

type CreateProjectCommand = Extract<ProjectCommand, { type: 'CreateProject' }>;
type ExistingProjectCommand =
  Exclude<ProjectCommand, CreateProjectCommand | { type: 'DeleteProject' }> | { readonly type: 'DeleteProject' };

export class CreateProject extends Command<ProjectRow> {
  constructor(
    readonly organization: string,
    readonly command: CreateProjectCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one project; resolves to how it stands then, null when it is gone. */
export class ChangeProject extends Command<ProjectRow | null> {
  constructor(
    readonly id: string,
    readonly command: ExistingProjectCommand,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Bindings for one project; resolves to all that it has then. */
export class BindProjectTags extends Command<readonly BindingRow[]> {
  constructor(
    readonly id: string,
    readonly bindings: readonly Tag[],
    readonly how: BindingMode,
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = {
  UpdateProject: 'update-project',
  BindProjectTags: 'update-project',
  DeleteProject: 'delete-project',
} as const satisfies Record<ExistingProjectCommand['type'], Permission>;

/** The pool that a command names. */
const getPool = (command: CreateProjectCommand | ExistingProjectCommand): string | null => {
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
    const pool = getPool(command);
    const { rows } = await this.store
      .handle({
        decider: project,
        load: async () => ({
          ...newStream(id, project),
          owner: await loadOrganizationForCommand(this.store.database, actor, 'create-project', organization, pool),
        }),
        command: () => command,
        organization: ({ owner }) => owner.id,
        holding: ({ owner }) => [
          expectVersion(owner.id, owner.snapshot.version),
          ...expectPoolVersion(pool, owner.poolVersion, { pointer: PROJECT_POOL_POINTER }),
        ],
        context: createEventContext(actor),
        read: () => [selectProjectById(id, actor)],
      })
      .catch(refuseTaken);
    return getFirstRow<ProjectRow>(rows);
  }
}

/** The organization's deletion takes all bindings along; those that came after it would stay. */
const insertsRows = (command: ExistingProjectCommand): boolean =>
  command.type === 'BindProjectTags' || (command.type === 'UpdateProject' && command.data.bindings !== undefined);

const buildPreconditions = (
  command: ExistingProjectCommand,
  pool: string | null,
  row: ProjectForCommand,
): readonly StreamWrite[] => [
  ...(insertsRows(command) ? [expectVersion(row.organization, row.organizationVersion)] : []),
  ...expectPoolVersion(pool, row.poolVersion, { pointer: PROJECT_POOL_POINTER }),
];

/** Whether the command changes which agents execute the runs of the project's workspaces. */
const changesExecution = (command: ExistingProjectCommand, { settings }: ProjectForCommand): boolean => {
  if (command.type !== 'UpdateProject') return false;
  const { follows, defaultExecutionMode: mode, defaultAgentPoolId: pool } = command.data.changes;
  if (follows) return settings.defaultExecutionMode !== null;
  return (
    (mode !== undefined && mode !== settings.defaultExecutionMode) ||
    (pool !== undefined && pool !== settings.defaultAgentPoolId)
  );
};

type ProjectTask = { readonly id: string; readonly command: ExistingProjectCommand; readonly actor: Actor };

/** Resolves to what `read` finds then. */
const executeProjectCommand = async (
  store: EventStore,
  { id, command, actor }: ProjectTask,
  read: Sql,
): Promise<readonly DatabaseRow[][]> => {
  const pool = getPool(command);
  const { rows } = await store
    .handle({
      decider: project,
      load: async () => {
        const row = await findProject(store.database, actor, PERMISSION[command.type], id, pool);
        if (changesExecution(command, row)) requirePermission(actor, 'change-project-execution', row);
        return { ...(await store.restore(id, project, row.snapshot)), row };
      },
      command: ({ row }): ProjectCommand =>
        command.type === 'DeleteProject'
          ? { type: 'DeleteProject', data: { isDefault: row.isDefault, workspaces: row.allWorkspaces } }
          : command,
      organization: ({ row }) => row.organization,
      holding: ({ row }) => buildPreconditions(command, pool, row),
      context: createEventContext(actor),
      read: () => [
        read,
        // A workspace may have come in between the count and the lock.
        ...(command.type === 'DeleteProject'
          ? [raiseConflictWhen(sql`exists (select 1 from workspaces where project = ${id})`)]
          : []),
      ],
    })
    .catch(refuseTaken);
  return rows;
};

@CommandHandler(ChangeProject)
export class ProjectsHandler implements ICommandHandler<ChangeProject> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ChangeProject): Promise<ProjectRow | null> {
    return getFirstRowOrNull<ProjectRow>(
      await executeProjectCommand(this.store, { id, command, actor }, selectProjectById(id, actor)),
    );
  }
}

@CommandHandler(BindProjectTags)
export class BindProjectTagsHandler implements ICommandHandler<BindProjectTags> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, bindings, how, actor }: BindProjectTags): Promise<readonly BindingRow[]> {
    const command = { type: 'BindProjectTags', data: { bindings, how } } as const;
    const [rows = []] = await executeProjectCommand(
      this.store,
      { id, command, actor },
      selectProjectBindings(sql`${[id]}::text[]`, actor),
    );
    return rows as unknown as readonly BindingRow[];
  }
}
