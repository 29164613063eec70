import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, IN_OWNER, notFound, unprocessable, type EventContext, type Sql } from '#kernel';
import {
  EventStore,
  firstRow,
  firstRowOrNull,
  refuseTakenName,
  unborn,
  unchanged,
  type Row,
  type Write,
} from '#event-store';
import { contextOf, systemContext, type Actor } from '#access';
import { heldPool } from '#agents';
import { heldSshKey } from '#ssh-keys';
import { fixedKeysChanged, idsAmong, namesOf, type TagReference } from '#tag-bindings';
import { FinalizeUpload, ToWorkspace, type LaterCommand } from './workspaces.commands.js';
import type { SettingsInput } from './workspace-settings.js';
import { ToolReleases } from './tool-releases.catalogue.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import { authorize } from './workspaces.permits.js';
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
    readonly data: Omit<BirthData, 'project' | 'followedMode' | 'fixed' | 'names'> & {
      readonly project: string | null;
      readonly flatTags: readonly TagReference[];
    },
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('workspaces_organization_name_key');

const POOL = { pointer: 'agent-pool-id', place: 'for this workspace' };

const refuseTag = (id: string, index: number) =>
  unprocessable(`Tag ${id} does not exist`, `${IN_OWNER.tags}/${index}/id`);

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
    const { flatTags, ...given } = data;
    const named = {
      project: data.project,
      pool: data.settings.agentPoolId ?? null,
      tags: flatTags.length + data.bindings.length > 0,
      tagIds: idsAmong(flatTags),
    };
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
          const { project, followedMode, fixed } = place;
          const names = namesOf(flatTags, place.tagNames, refuseTag);
          return {
            type: 'CreateWorkspace',
            data: { ...given, settings, project, followedMode, fixed, names },
          } as const;
        },
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [
          unchanged(place.organization, place.organizationVersion),
          ...(place.project && place.projectVersion ? [unchanged(place.project, place.projectVersion)] : []),
          ...heldPool(named.pool, place.poolVersion, POOL),
        ],
        context: contextOf(actor),
        read: ({ place: { project, fixed } }) => [
          workspaceById(id, actor),
          ...(named.tags && project ? [fixedKeysChanged(project, fixed)] : []),
        ],
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

export type Told = {
  readonly target: WorkspaceTarget;
  readonly command: LaterCommand;
  /** Null only for what a signed link allows: this type is not seen outside. */
  readonly actor: Actor | null;
  readonly context: EventContext;
};

const NOTHING: Named = { project: null, pool: null, sshKey: null, tags: false, tagIds: [], consumers: false };

const namedBy = (command: LaterCommand): Named => {
  if (command.type === 'AssignSshKey') return { ...NOTHING, sshKey: command.data.key };
  if (command.type === 'BindTags') return { ...NOTHING, tags: true };
  if (command.type === 'AddTags' || command.type === 'RemoveTags') {
    return { ...NOTHING, tags: command.type === 'AddTags', tagIds: idsAmong(command.data.tags) };
  }
  if (command.type !== 'UpdateWorkspace') return NOTHING;
  const { project, changes, bindings } = command.data;
  const tags = bindings !== undefined || Boolean(project);
  const consumers = changes.globalRemoteState === true || changes.projectRemoteState === true;
  return { ...NOTHING, project: project || null, pool: changes.agentPoolId || null, tags, consumers };
};

const missingTag = (id: string) => notFound(`Tag ${id} not found`);

/**
 * With what a decision asks for beyond the stream: the mode that the workspace follows, the keys that its project lets
 * nobody bind, the tags that ids stand for, its named consumers, and since when it is locked and whether the caller may see
 * its holder.
 */
const around = (
  command: LaterCommand,
  { followedMode, fixed, tagNames, consumers, snapshot }: WorkspaceForCommand,
): WorkspaceCommand => {
  const { lockedSince, isHolderHidden } = snapshot;
  const { type, data } = command;
  if (type === 'UpdateWorkspace') return { type, data: { ...data, followedMode, fixed, consumers } };
  if (type === 'AddTags') return { type, data: { names: namesOf(data.tags, tagNames, missingTag), fixed } };
  if (type === 'RemoveTags') return { type, data: { names: namesOf(data.tags, tagNames, missingTag) } };
  if (type === 'BindTags') return { type, data: { ...data, fixed } };
  if (type === 'LockWorkspace') return { type, data: { ...data, lockedSince, isHolderHidden } };
  return type === 'UnlockWorkspace' ? { type, data: { ...data, lockedSince, isHolderHidden } } : command;
};

/** Resolves to what `read` finds of the workspace then. */
export const tell = async (
  store: EventStore,
  { target, command, actor, context }: Told,
  read: (workspace: string) => Sql = (workspace) => workspaceById(workspace, actor),
): Promise<readonly Row[][]> => {
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
      read: ({ stream, found }) => [
        read(stream),
        ...(named.tags ? [fixedKeysChanged(named.project ?? found.project, found.fixed)] : []),
      ],
    })
    .catch(refuseTaken);
  return rows;
};

@CommandHandler(ToWorkspace)
export class WorkspacesHandler implements ICommandHandler<ToWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ target, command, actor }: ToWorkspace): Promise<WorkspaceRow | null> {
    return firstRowOrNull<WorkspaceRow>(await tell(this.store, { target, command, actor, context: contextOf(actor) }));
  }
}

@CommandHandler(FinalizeUpload)
export class FinalizeUploadHandler implements ICommandHandler<FinalizeUpload> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ workspace: id, data }: FinalizeUpload): Promise<WorkspaceRow | null> {
    const command = { type: 'FinalizeStateVersion', data } as const;
    const context = systemContext('signed link', this.ids.uuid());
    return firstRowOrNull<WorkspaceRow>(await tell(this.store, { target: { id }, command, actor: null, context }));
  }
}

/** They change the workspace's own row only: where that is gone, with its organization, they find none and leave none. */
const LEAVE_NO_ROWS: readonly WorkspaceCommand['type'][] = ['LockWorkspace', 'UnlockWorkspace', 'ForceUnlockWorkspace'];

/** The organization's deletion takes all rows of its workspaces along; those that came after it would stay. */
const heldFor = ({ type }: LaterCommand, named: Named, found: WorkspaceForCommand): readonly Write[] => [
  ...(LEAVE_NO_ROWS.includes(type) ? [] : [unchanged(found.organization, found.organizationVersion)]),
  ...(named.project && found.projectVersion ? [unchanged(named.project, found.projectVersion)] : []),
  ...(named.tags && !named.project ? [unchanged(found.project, found.homeVersion)] : []),
  ...heldPool(named.pool, found.poolVersion, POOL),
];
