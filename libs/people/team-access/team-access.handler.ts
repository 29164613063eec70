import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type DataOf, type Decider, type Message } from '#kernel';
import { EventStore, newStream, expectVersion } from '#event-store';
import { getViolatedConstraint, type DatabaseRow } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { TEAM_POINTER, type ReferencedTeam } from './team-access.js';
import {
  loadTargetForNewAccess,
  selectTeamAccessById,
  findTeamAccess,
  type AccessTargetKind,
  type TeamProjectRow,
  type TeamWorkspaceRow,
} from './team-access.queries.js';
import { teamProject, type TeamProjectCommand } from './team-project.js';
import { teamWorkspace, type TeamWorkspaceCommand } from './team-workspace.js';

type TeamWorkspaceCommandInput =
  | {
      readonly type: 'UpdateTeamWorkspace';
      readonly data: Omit<DataOf<TeamWorkspaceCommand, 'UpdateTeamWorkspace'>, 'teamName'>;
    }
  | { readonly type: 'RemoveTeamWorkspace' };
type TeamProjectCommandInput =
  | {
      readonly type: 'UpdateTeamProject';
      readonly data: Omit<DataOf<TeamProjectCommand, 'UpdateTeamProject'>, 'teamName'>;
    }
  | { readonly type: 'RemoveTeamProject' };

export class AddTeamWorkspace extends Command<TeamWorkspaceRow> {
  constructor(
    readonly team: string,
    readonly workspace: string,
    readonly terms: Pick<DataOf<TeamWorkspaceCommand, 'AddTeamWorkspace'>, 'access' | 'fields'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Changes or removes a team's access to a workspace. Returns the row, or null after a removal. */
export class ChangeTeamWorkspace extends Command<TeamWorkspaceRow | null> {
  constructor(
    readonly id: string,
    readonly command: TeamWorkspaceCommandInput,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class AddTeamProject extends Command<TeamProjectRow> {
  constructor(
    readonly team: string,
    readonly project: string,
    readonly terms: Pick<DataOf<TeamProjectCommand, 'AddTeamProject'>, 'access' | 'fields'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Changes or removes a team's access to a project. Returns the row, or null after a removal. */
export class ChangeTeamProject extends Command<TeamProjectRow | null> {
  constructor(
    readonly id: string,
    readonly command: TeamProjectCommandInput,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Refuses a second access of the same team to the same workspace or project. */
const refuseSecond = (error: unknown): never => {
  if (/^team_(?:workspaces|projects)_team_\w+_key$/.test(getViolatedConstraint(error) ?? '')) {
    throw unprocessable('Team has already been added', TEAM_POINTER);
  }
  throw error;
};

type TeamAccessAddition<S, C extends Message, E extends Message> = {
  readonly kind: AccessTargetKind;
  readonly decider: Decider<S, C, E>;
  readonly id: string;
  readonly target: string;
  readonly team: string;
  readonly command: (team: ReferencedTeam) => C;
  readonly actor: Actor;
};

const addTeamAccess = async <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, target, team, command, actor }: TeamAccessAddition<S, C, E>,
): Promise<DatabaseRow | undefined> => {
  const { rows } = await store
    .handle({
      decider,
      load: async () => ({
        ...newStream(id, decider),
        row: await loadTargetForNewAccess(store.database, actor, kind, target, team),
      }),
      command: ({ row }) => {
        if (row.team === null) throw unprocessable('Team does not exist', TEAM_POINTER);
        return command(row.team);
      },
      organization: ({ row }) => row.organization,
      // A deletion of the organization, the target or the team removes only the access that exists by then, so their
      // versions must not change.
      preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: () => [selectTeamAccessById(kind, id)],
    })
    .catch(refuseSecond);
  return rows[0]?.[0];
};

type TeamAccessChange<S, C extends Message, E extends Message> = {
  readonly kind: AccessTargetKind;
  readonly decider: Decider<S, C, E>;
  readonly id: string;
  readonly command: (teamName: string) => C;
  readonly actor: Actor;
};

const changeTeamAccess = async <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, command, actor }: TeamAccessChange<S, C, E>,
): Promise<DatabaseRow | undefined> => {
  const { rows } = await store.handle({
    decider,
    load: async () => {
      const row = await findTeamAccess(store.database, actor, kind, 'manage', id);
      return { ...(await store.restore(id, decider, row.snapshot)), row };
    },
    command: ({ row }) => command(row.teamName),
    organization: ({ row }) => row.organization,
    context: createEventContext(actor),
    read: () => [selectTeamAccessById(kind, id)],
  });
  return rows[0]?.[0];
};

@CommandHandler(AddTeamWorkspace)
export class AddTeamWorkspaceHandler implements ICommandHandler<AddTeamWorkspace> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ team, workspace, terms, actor }: AddTeamWorkspace): Promise<TeamWorkspaceRow> {
    const row = await addTeamAccess(this.store, {
      kind: 'workspace',
      decider: teamWorkspace,
      id: this.ids.next('tws'),
      target: workspace,
      team,
      command: (referencedTeam) =>
        ({ type: 'AddTeamWorkspace', data: { team: referencedTeam, workspace, ...terms } }) as const,
      actor,
    });
    return row as TeamWorkspaceRow;
  }
}

@CommandHandler(ChangeTeamWorkspace)
export class ChangeTeamWorkspaceHandler implements ICommandHandler<ChangeTeamWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ChangeTeamWorkspace): Promise<TeamWorkspaceRow | null> {
    const toCommand = (teamName: string): TeamWorkspaceCommand =>
      command.type === 'RemoveTeamWorkspace'
        ? { type: command.type, data: { teamName } }
        : { type: command.type, data: { teamName, ...command.data } };
    const row = await changeTeamAccess(this.store, {
      kind: 'workspace',
      decider: teamWorkspace,
      id,
      command: toCommand,
      actor,
    });
    return (row as TeamWorkspaceRow | undefined) ?? null;
  }
}

@CommandHandler(AddTeamProject)
export class AddTeamProjectHandler implements ICommandHandler<AddTeamProject> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ team, project, terms, actor }: AddTeamProject): Promise<TeamProjectRow> {
    const row = await addTeamAccess(this.store, {
      kind: 'project',
      decider: teamProject,
      id: this.ids.next('tprj'),
      target: project,
      team,
      command: (referencedTeam) =>
        ({ type: 'AddTeamProject', data: { team: referencedTeam, project, ...terms } }) as const,
      actor,
    });
    return row as TeamProjectRow;
  }
}

@CommandHandler(ChangeTeamProject)
export class ChangeTeamProjectHandler implements ICommandHandler<ChangeTeamProject> {
  constructor(private readonly store: EventStore) {}

  async execute({ id, command, actor }: ChangeTeamProject): Promise<TeamProjectRow | null> {
    const toCommand = (teamName: string): TeamProjectCommand =>
      command.type === 'RemoveTeamProject'
        ? { type: command.type, data: { teamName } }
        : { type: command.type, data: { teamName, ...command.data } };
    const row = await changeTeamAccess(this.store, {
      kind: 'project',
      decider: teamProject,
      id,
      command: toCommand,
      actor,
    });
    return (row as TeamProjectRow | undefined) ?? null;
  }
}
