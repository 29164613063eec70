import { CommandHandler } from '@nestjs/cqrs';
import { type DataOf, Ids, sql, type Sql } from '#platform/kernel';
import { castRows, refuseTakenName, type DatabaseRow } from '#platform/postgres';
import {
  type Actor,
  requirePermission,
  type Permission,
  createResource,
  changeResource,
  RecoveryPeriod,
  type RecoveredResource,
} from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  type OperationTable,
} from '#storage/event-store';
import { type BindingRow, selectProjectBindings } from '#organizations/tag-bindings';
import { expectPoolVersion } from '#organizations/agents';
import { loadOrganizationForCommand } from '../organizations/organizations.queries.js';
import { type ProjectCommand, PROJECT_POOL_POINTER, project } from './project.js';
import { purgeProject, recoverProject } from './recover-project.operation.js';
import { type ProjectRow, selectProjectById, findProject, type ProjectForCommand } from './projects.queries.js';

type ProjectOperations = {
  CreateProject: Operation<
    { organization: string; data: DataOf<ProjectCommand, 'CreateProject'>; actor: Actor },
    ProjectRow
  >;
  /** Resolves to null if the project has been deleted meanwhile. */
  UpdateProject: Operation<
    { id: string; data: DataOf<ProjectCommand, 'UpdateProject'>; actor: Actor },
    ProjectRow | null
  >;
  /** Resolves to all bindings of the project. */
  BindProjectTags: Operation<
    { id: string; data: DataOf<ProjectCommand, 'BindProjectTags'>; actor: Actor },
    readonly BindingRow[]
  >;
  DeleteProject: Operation<{ id: string; actor: Actor }, void>;
  /** Brings a deleted project back, under another name if there is one in the request. */
  RecoverProject: Operation<{ id: string; name: string | undefined; actor: Actor }, RecoveredResource>;
  PurgeProject: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeProject<T extends keyof ProjectOperations> extends AggregateCommand<ProjectOperations, T> {}

type CommandedProjectChanges = DataOf<ProjectCommand, 'UpdateProject'>['changes'];

/** A change of one existing project. */
type ProjectTask = {
  readonly id: string;
  readonly actor: Actor;
  readonly permission: Permission;
  /** Refuses the change, depending on the project as it is. */
  readonly authorize?: (row: ProjectForCommand) => void;
  readonly command: (row: ProjectForCommand) => ProjectCommand;
  /** The agent pool that the command refers to. */
  readonly pool?: string | null;
  /** Whether the command inserts rows. The append then fails if the organization is deleted meanwhile. */
  readonly insertsRows?: boolean;
  /** Statements that run after the append, in its transaction. */
  readonly read: readonly Sql[];
};

/** Returns the agent pool that the settings refer to. */
const getPool = ({ follows, defaultAgentPoolId }: CommandedProjectChanges): string | null =>
  follows ? null : defaultAgentPoolId || null;

/** Returns whether the changes affect which agents execute runs of the project's workspaces, or when runs destroy resources. */
const changesExecution = (changes: CommandedProjectChanges, { settings }: ProjectForCommand): boolean => {
  const {
    follows,
    defaultExecutionMode: mode,
    defaultAgentPoolId: pool,
    autoDestroyActivityDuration: duration,
  } = changes;
  if (duration !== undefined && duration !== settings.autoDestroyActivityDuration) return true;
  if (follows) return settings.defaultExecutionMode !== null;
  return (
    (mode !== undefined && mode !== settings.defaultExecutionMode) ||
    (pool !== undefined && pool !== settings.defaultAgentPoolId)
  );
};

const refuseTaken = refuseTakenName('projects_organization_name_key');

@CommandHandler(ChangeProject)
export class ProjectsHandler extends AggregateHandler<ProjectOperations> {
  protected readonly operations: OperationTable<ProjectOperations> = {
    CreateProject: (input) => this.create(input),
    UpdateProject: (input) => this.update(input),
    BindProjectTags: (input) => this.bindTags(input),
    DeleteProject: (input) => this.delete(input),
    RecoverProject: (input) => recoverProject(this.store, input),
    PurgeProject: (input) => purgeProject(this.store, input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly recoveryPeriod: RecoveryPeriod,
  ) {
    super();
  }

  private async create(input: ProjectOperations['CreateProject']['input']): Promise<ProjectRow> {
    const { organization, data, actor } = input;
    const id = this.ids.next('prj');
    const pool = getPool(data);
    const rows = await createResource(this.store, project, {
      id,
      actor,
      load: async () => {
        const { database } = this.store;
        const owner = await loadOrganizationForCommand(database, actor, 'create-project', organization, pool);
        return { ...owner, organization: owner.id };
      },
      command: { type: 'CreateProject', data },
      writes: (owner) => [
        expectVersion(owner.id, owner.snapshot.version),
        ...expectPoolVersion(pool, owner.poolVersion, { pointer: PROJECT_POOL_POINTER }),
      ],
      read: () => [selectProjectById(id, actor)],
    }).catch(refuseTaken);
    return getFirstRow<ProjectRow>(rows);
  }

  private async update(input: ProjectOperations['UpdateProject']['input']): Promise<ProjectRow | null> {
    const { id, data, actor } = input;
    const rows = await this.append({
      id,
      actor,
      permission: 'update-project',
      authorize: (row) => {
        if (changesExecution(data.changes, row)) requirePermission(actor, 'change-project-execution', row);
      },
      command: () => ({ type: 'UpdateProject', data }),
      pool: getPool(data.changes),
      insertsRows: data.bindings !== undefined,
      read: [selectProjectById(id, actor)],
    });
    return getFirstRowOrNull<ProjectRow>(rows);
  }

  private async bindTags(input: ProjectOperations['BindProjectTags']['input']): Promise<readonly BindingRow[]> {
    const { id, data, actor } = input;
    const [rows = []] = await this.append({
      id,
      actor,
      permission: 'update-project',
      command: () => ({ type: 'BindProjectTags', data }),
      insertsRows: true,
      read: [selectProjectBindings(sql`${[id]}::text[]`, actor)],
    });
    return castRows<BindingRow>(rows);
  }

  private async delete({ id, actor }: ProjectOperations['DeleteProject']['input']): Promise<void> {
    await this.append({
      id,
      actor,
      permission: 'delete-project',
      command: ({ isDefault, allWorkspaces: workspaces }) => ({
        type: 'DeleteProject',
        data: { isDefault, workspaces, recoverableUntil: this.recoveryPeriod.computeEnd() },
      }),
      insertsRows: true,
      // Another request can add a workspace between the count and the lock of the stream.
      read: [raiseConflictWhen(sql`exists (select 1 from workspaces where project = ${id})`)],
    });
  }

  /**
   * Appends the events of a command, and resolves to the rows that the query `read` returns in the same transaction.
   */
  private append({
    id,
    actor,
    permission,
    authorize,
    command,
    pool = null,
    insertsRows = false,
    read,
  }: ProjectTask): Promise<readonly DatabaseRow[][]> {
    return changeResource(this.store, project, {
      actor,
      load: async () => {
        const row = await findProject(this.store.database, actor, permission, id, pool);
        authorize?.(row);
        return row;
      },
      command,
      writes: (row) => [
        ...(insertsRows ? [expectVersion(row.organization, row.organizationVersion)] : []),
        ...expectPoolVersion(pool, row.poolVersion, { pointer: PROJECT_POOL_POINTER }),
      ],
      read: () => read,
    }).catch(refuseTaken);
  }
}
