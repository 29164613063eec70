import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, sql } from '#kernel';
import { EventStore, firstRow, firstRowOrNull, refuseTakenName, staleWhen, unborn, unchanged } from '#event-store';
import { contextOf, type Actor, type Permission } from '#access';
import { heldPool } from '#agents/to-agents';
import { POOL, project, type ProjectCommand } from './project.js';
import { organizationForCommand } from './organizations.queries.js';
import { projectById, projectFor, type ProjectRow } from './projects.queries.js';

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

const PERMISSION = {
  UpdateProject: 'update-project',
  DeleteProject: 'delete-project',
} as const satisfies Record<LaterCommand['type'], Permission>;

/** The pool that a command names. */
const poolOf = (command: BirthCommand | LaterCommand): string | null => {
  if (command.type === 'DeleteProject') return null;
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

@CommandHandler(ToProject)
export class ProjectsHandler implements ICommandHandler<ToProject> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ToProject): Promise<ProjectRow | null> {
    const pool = poolOf(command);
    const { rows } = await this.store
      .handle({
        decider: project,
        load: async () => {
          const row = await projectFor(this.store.database, actor, PERMISSION[command.type], id, pool);
          return { ...(await this.store.restore(id, project, row.snapshot)), row };
        },
        command: ({ row }): ProjectCommand =>
          command.type === 'DeleteProject'
            ? { type: 'DeleteProject', data: { isDefault: row.isDefault, workspaces: row.workspaceCount } }
            : command,
        organization: ({ row }) => row.organization,
        holding: ({ row }) => heldPool(pool, row.poolVersion, { pointer: POOL }),
        context: contextOf(actor),
        read: () => [
          projectById(id, actor),
          // A workspace may have come in between the count and the lock.
          ...(command.type === 'DeleteProject'
            ? [staleWhen(sql`exists (select 1 from workspaces where project = ${id})`)]
            : []),
        ],
      })
      .catch(refuseTaken);
    return firstRowOrNull<ProjectRow>(rows);
  }
}
