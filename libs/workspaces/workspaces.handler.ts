import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type EventContext } from '#kernel';
import { EventStore, firstRow, firstRowOrNull, refuseTakenName, unborn, unchanged, type Write } from '#event-store';
import { contextOf, demand, systemContext, type Actor, type Permission } from '#access';
import { heldPool } from '#agents/to-agents';
import { heldSshKey } from '#ssh-keys/to-ssh-keys';
import { FinalizeUpload, ToWorkspace, type LaterCommand } from './to-workspace.js';
import type { SettingsInput } from './settings.js';
import { ToolReleases } from './tool.releases.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import {
  placeForNew,
  workspaceById,
  workspaceForCommand,
  type Named,
  type WorkspaceForCommand,
  type WorkspaceTarget,
  type WorkspaceRow,
} from './workspaces.queries.js';

/** Whether new workspaces share their state with the whole organization where the request does not say. */
export const GLOBAL_REMOTE_STATE = 'cadastre:global-remote-state';

type BirthData = Extract<WorkspaceCommand, { type: 'CreateWorkspace' }>['data'];

export class CreateWorkspace extends Command<WorkspaceRow> {
  constructor(
    readonly organization: string,
    readonly data: Omit<BirthData, 'project' | 'followedMode'> & { readonly project: string | null },
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = {
  AssignSshKey: 'assign-ssh-key',
  LockWorkspace: 'lock-workspace',
  UnlockWorkspace: 'lock-workspace',
  ForceUnlockWorkspace: 'force-unlock-workspace',
  AddTags: 'tag-workspace',
  RemoveTags: 'tag-workspace',
  BindTags: 'tag-workspace',
  CreateStateVersion: 'create-state',
  FinalizeStateVersion: 'create-state',
} as const satisfies Partial<Record<WorkspaceCommand['type'], Permission>>;

/** Owners may always force a deletion; workspace admins where the organization lets them (contract §4.3). */
const deletePermission = (forced: boolean, { allowForceDelete }: WorkspaceForCommand): Permission => {
  if (!forced) return 'delete-workspace';
  return allowForceDelete ? 'force-delete-own-workspace' : 'force-delete-workspace';
};

const refuseTaken = refuseTakenName('workspaces_organization_name_key');

const POOL = { pointer: 'agent-pool-id', place: 'for this workspace' };

const refuseProject = () => unprocessable('Project does not exist', '/data/relationships/project/data/id');

@CommandHandler(CreateWorkspace)
export class CreateWorkspaceHandler implements ICommandHandler<CreateWorkspace> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly releases: ToolReleases,
    @Inject(GLOBAL_REMOTE_STATE) private readonly globalRemoteState: boolean,
  ) {}

  async execute({ organization, data, actor }: CreateWorkspace): Promise<WorkspaceRow> {
    const id = this.ids.next('ws');
    const named = { project: data.project, pool: data.settings.agentPoolId ?? null };
    const settings = { ...this.defaultsFor(data.settings), ...data.settings };
    const { rows } = await this.store
      .handle({
        decider: workspace,
        load: async () => ({
          ...unborn(id, workspace),
          place: await placeForNew(this.store.database, actor, organization, named),
        }),
        command: ({ place }) => {
          if (place.project === null) throw refuseProject();
          const { followedMode } = place;
          return {
            type: 'CreateWorkspace',
            data: { ...data, settings, project: place.project, followedMode },
          } as const;
        },
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [
          unchanged(place.organization, place.organizationVersion),
          ...(place.project && place.projectVersion ? [unchanged(place.project, place.projectVersion)] : []),
          ...heldPool(named.pool, place.poolVersion, POOL),
        ],
        context: contextOf(actor),
        read: () => [workspaceById(id, actor)],
      })
      .catch(refuseTaken);
    return firstRow<WorkspaceRow>(rows);
  }

  /** What this installation gives to who does not ask for it. To share with the project is to share with no others. */
  private defaultsFor({ projectRemoteState }: SettingsInput): SettingsInput {
    return {
      globalRemoteState: this.globalRemoteState && projectRemoteState !== true,
      terraformVersion: this.releases.latest,
    };
  }
}

type Told = {
  readonly target: WorkspaceTarget;
  readonly command: LaterCommand;
  /** Null only for what a signed link allows: this type is not seen outside. */
  readonly actor: Actor | null;
  readonly context: EventContext;
};

const namedBy = (command: LaterCommand): Named => {
  if (command.type === 'AssignSshKey') return { project: null, pool: null, sshKey: command.data.key };
  if (command.type !== 'UpdateWorkspace') return { project: null, pool: null, sshKey: null };
  const { project, changes } = command.data;
  return { project: project || null, pool: changes.agentPoolId || null, sshKey: null };
};

/** With what a decision asks for beyond the stream: the mode that the workspace follows, and since when it is locked. */
const around = (command: LaterCommand, { followedMode, snapshot }: WorkspaceForCommand): WorkspaceCommand => {
  const { lockedSince } = snapshot;
  if (command.type === 'UpdateWorkspace') return { ...command, data: { ...command.data, followedMode } };
  if (command.type === 'LockWorkspace') return { ...command, data: { ...command.data, lockedSince } };
  if (command.type === 'UnlockWorkspace') return { ...command, data: { ...command.data, lockedSince } };
  return command;
};

const tell = async (store: EventStore, { target, command, actor, context }: Told): Promise<WorkspaceRow | null> => {
  const named = namedBy(command);
  const { rows } = await store
    .handle({
      decider: workspace,
      load: async () => {
        const found = await workspaceForCommand(store.database, actor, target, named);
        if (actor) authorize(actor, command, found);
        if (named.project && found.projectVersion === null) throw refuseProject();
        const sshKey = heldSshKey(named.sshKey, found.sshKeyVersion);
        return { ...(await store.restore(found.id, workspace, found.snapshot)), found, sshKey };
      },
      command: ({ found }) => around(command, found),
      organization: ({ found }) => found.organization,
      holding: ({ found, sshKey }) => [...heldFor(command, named, found), ...sshKey],
      context,
      read: ({ stream }) => [workspaceById(stream, actor)],
    })
    .catch(refuseTaken);
  return firstRowOrNull<WorkspaceRow>(rows);
};

@CommandHandler(ToWorkspace)
export class WorkspacesHandler implements ICommandHandler<ToWorkspace> {
  constructor(private readonly store: EventStore) {}

  execute({ target, command, actor }: ToWorkspace): Promise<WorkspaceRow | null> {
    return tell(this.store, { target, command, actor, context: contextOf(actor) });
  }
}

@CommandHandler(FinalizeUpload)
export class FinalizeUploadHandler implements ICommandHandler<FinalizeUpload> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  execute({ workspace: id, data }: FinalizeUpload): Promise<WorkspaceRow | null> {
    const command = { type: 'FinalizeStateVersion', data } as const;
    const context = systemContext('signed link', this.ids.uuid());
    return tell(this.store, { target: { id }, command, actor: null, context });
  }
}

/** They change the workspace's own row only: where that is gone, with its organization, they find none and leave none. */
const LEAVE_NO_ROWS: readonly WorkspaceCommand['type'][] = ['LockWorkspace', 'UnlockWorkspace', 'ForceUnlockWorkspace'];

/** The organization's deletion takes all rows of its workspaces along; those that came after it would stay. */
const heldFor = ({ type }: LaterCommand, named: Named, found: WorkspaceForCommand): readonly Write[] => [
  ...(LEAVE_NO_ROWS.includes(type) ? [] : [unchanged(found.organization, found.organizationVersion)]),
  ...(named.project && found.projectVersion ? [unchanged(named.project, found.projectVersion)] : []),
  ...heldPool(named.pool, found.poolVersion, POOL),
];

const authorize = (actor: Actor, command: LaterCommand, found: WorkspaceForCommand): void => {
  // Who may not even read it learns nothing, not that it is forbidden.
  demand(actor, 'read-workspace', found);
  for (const permission of permissionsFor(command, found)) demand(actor, permission, found);
  // Moving is asked of both projects (contract §5): of the one that it leaves, and of the one that it comes to.
  if (isMove(command, found)) {
    demand(actor, 'move-workspace', { organization: found.organization, grants: found.projectGrants ?? [] });
  }
};

const isMove = (command: LaterCommand, { project }: WorkspaceForCommand): boolean =>
  command.type === 'UpdateWorkspace' && Boolean(command.data.project) && command.data.project !== project;

const updatePermission = (
  command: Extract<LaterCommand, { type: 'UpdateWorkspace' }>,
  found: WorkspaceForCommand,
): readonly Permission[] => {
  const { changes, bindings } = command.data;
  if (!isMove(command, found)) return ['update-workspace'];
  // Who may only move it changes nothing else on the way.
  const onlyMoves = bindings === undefined && Object.keys(changes).length === 0;
  return onlyMoves ? ['move-workspace'] : ['move-workspace', 'update-workspace'];
};

const permissionsFor = (command: LaterCommand, found: WorkspaceForCommand): readonly Permission[] => {
  if (command.type === 'DeleteWorkspace') return [deletePermission(command.data.forced, found)];
  return command.type === 'UpdateWorkspace' ? updatePermission(command, found) : [PERMISSION[command.type]];
};
