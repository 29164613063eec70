import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, BINDING_POINTERS, notFound, unprocessable, type EventContext, type Sql } from '#kernel';
import { EventStore, getFirstRow, getFirstRowOrNull, newStream, expectVersion, type StreamWrite } from '#event-store';
import { refuseTakenName, type DatabaseRow } from '#postgres';
import { createEventContext, createSystemContext, type Actor } from '#access';
import { expectPoolVersion } from '#agents';
import { expectSshKeyVersion } from '#ssh-keys';
import { raiseConflictWhenFixedKeysChanged, listTagIds, resolveTagNames, type TagReference } from '#tag-bindings';
import { FinalizeUpload, ChangeWorkspace, type ExistingWorkspaceCommand } from './workspaces.commands.js';
import type { SettingsInput } from '../settings/workspace-settings.js';
import { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';
import { workspace, type WorkspaceCommand } from './workspace.js';
import { authorize } from './workspaces.permissions.js';
import {
  loadOrganizationForNewWorkspace,
  selectWorkspaceById,
  loadWorkspaceForCommand,
  type CommandReferences,
  type WorkspaceForCommand,
  type WorkspaceTarget,
  type WorkspaceRow,
} from './workspaces.queries.js';

/** Whether new workspaces share their state with the whole organization where the request does not say. */
export const GLOBAL_REMOTE_STATE = 'cadastre:global-remote-state';

type NewWorkspaceData = Extract<WorkspaceCommand, { type: 'CreateWorkspace' }>['data'];

export class CreateWorkspace extends Command<WorkspaceRow> {
  constructor(
    readonly organization: string,
    readonly data: Omit<NewWorkspaceData, 'project' | 'followedMode' | 'fixed' | 'names'> & {
      readonly project: string | null;
      readonly flatTags: readonly TagReference[];
    },
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('workspaces_organization_name_key');

const POOL_ERROR_TEXTS = { pointer: 'agent-pool-id', locationText: 'for this workspace' };

const refuseTag = (id: string, index: number) =>
  unprocessable(`Tag ${id} does not exist`, `${BINDING_POINTERS.tags}/${index}/id`);

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
      tagIds: listTagIds(flatTags),
    };
    const settings = { ...this.defaultsFor(data.settings), ...data.settings };
    const { rows } = await this.store
      .handle({
        decider: workspace,
        load: async () => ({
          ...newStream(id, workspace),
          place: await loadOrganizationForNewWorkspace(this.store.database, actor, organization, named),
        }),
        command: ({ place }) => {
          if (place.project === null) throw refuseProject();
          const { project, followedMode, fixed } = place;
          const names = resolveTagNames(flatTags, place.tagNames, refuseTag);
          return {
            type: 'CreateWorkspace',
            data: { ...given, settings, project, followedMode, fixed, names },
          } as const;
        },
        organization: ({ place }) => place.organization,
        preconditions: ({ place }) => [
          expectVersion(place.organization, place.organizationVersion),
          ...(place.project && place.projectVersion ? [expectVersion(place.project, place.projectVersion)] : []),
          ...expectPoolVersion(named.pool, place.poolVersion, POOL_ERROR_TEXTS),
        ],
        context: createEventContext(actor),
        read: ({ place: { project, fixed } }) => [
          selectWorkspaceById(id, actor),
          ...(named.tags && project ? [raiseConflictWhenFixedKeysChanged(project, fixed)] : []),
        ],
      })
      .catch(refuseTaken);
    return getFirstRow<WorkspaceRow>(rows);
  }

  /** What this installation gives to who does not ask for it. To share with the project is to share with no others. */
  private defaultsFor({ projectRemoteState }: SettingsInput): SettingsInput {
    return {
      globalRemoteState: this.globalRemoteState && projectRemoteState !== true,
      terraformVersion: this.releases.latest,
    };
  }
}

export type WorkspaceCommandTask = {
  readonly target: WorkspaceTarget;
  readonly command: ExistingWorkspaceCommand;
  /** Null only for what a signed link allows: this type is not seen outside. */
  readonly actor: Actor | null;
  readonly context: EventContext;
};

const NO_REFERENCES: CommandReferences = {
  project: null,
  pool: null,
  sshKey: null,
  tags: false,
  tagIds: [],
  consumers: false,
};

const collectReferences = (command: ExistingWorkspaceCommand): CommandReferences => {
  if (command.type === 'AssignSshKey') return { ...NO_REFERENCES, sshKey: command.data.key };
  if (command.type === 'BindTags') return { ...NO_REFERENCES, tags: true };
  if (command.type === 'AddTags' || command.type === 'RemoveTags') {
    return { ...NO_REFERENCES, tags: command.type === 'AddTags', tagIds: listTagIds(command.data.tags) };
  }
  if (command.type !== 'UpdateWorkspace') return NO_REFERENCES;
  const { project, changes, bindings } = command.data;
  const tags = bindings !== undefined || Boolean(project);
  const consumers = changes.globalRemoteState === true || changes.projectRemoteState === true;
  return { ...NO_REFERENCES, project: project || null, pool: changes.agentPoolId || null, tags, consumers };
};

const createTagNotFoundRefusal = (id: string) => notFound(`Tag ${id} not found`);

/**
 * With what a decision asks for beyond the stream: the mode that the workspace follows, the keys that its project lets
 * nobody bind, the tags that ids stand for, its named consumers, and since when it is locked and whether the caller may see
 * its holder.
 */
const enrichCommand = (
  command: ExistingWorkspaceCommand,
  { followedMode, fixed, tagNames, consumers, snapshot }: WorkspaceForCommand,
): WorkspaceCommand => {
  const { lockedSince, isHolderHidden } = snapshot;
  const { type, data } = command;
  if (type === 'UpdateWorkspace') return { type, data: { ...data, followedMode, fixed, consumers } };
  if (type === 'AddTags')
    return { type, data: { names: resolveTagNames(data.tags, tagNames, createTagNotFoundRefusal), fixed } };
  if (type === 'RemoveTags')
    return { type, data: { names: resolveTagNames(data.tags, tagNames, createTagNotFoundRefusal) } };
  if (type === 'BindTags') return { type, data: { ...data, fixed } };
  if (type === 'LockWorkspace') return { type, data: { ...data, lockedSince, isHolderHidden } };
  return type === 'UnlockWorkspace' ? { type, data: { ...data, lockedSince, isHolderHidden } } : command;
};

/** Resolves to what `read` finds of the workspace then. */
export const executeWorkspaceCommand = async (
  store: EventStore,
  { target, command, actor, context }: WorkspaceCommandTask,
  read: (workspace: string) => Sql = (workspace) => selectWorkspaceById(workspace, actor),
): Promise<readonly DatabaseRow[][]> => {
  const named = collectReferences(command);
  const { rows } = await store
    .handle({
      decider: workspace,
      load: async () => {
        const found = await loadWorkspaceForCommand(store.database, actor, target, named);
        if (actor) authorize(actor, command, found);
        if (named.project && found.projectVersion === null) throw refuseProject();
        const sshKey = expectSshKeyVersion(named.sshKey, found.sshKeyVersion);
        return { ...(await store.restore(found.id, workspace, found.snapshot)), found, sshKey };
      },
      command: ({ found }) => enrichCommand(command, found),
      organization: ({ found }) => found.organization,
      preconditions: ({ found, sshKey }) => [...buildPreconditions(command, named, found), ...sshKey],
      context,
      read: ({ stream, found }) => [
        read(stream),
        ...(named.tags ? [raiseConflictWhenFixedKeysChanged(named.project ?? found.project, found.fixed)] : []),
      ],
    })
    .catch(refuseTaken);
  return rows;
};

@CommandHandler(ChangeWorkspace)
export class WorkspacesHandler implements ICommandHandler<ChangeWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ target, command, actor }: ChangeWorkspace): Promise<WorkspaceRow | null> {
    return getFirstRowOrNull<WorkspaceRow>(
      await executeWorkspaceCommand(this.store, { target, command, actor, context: createEventContext(actor) }),
    );
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
    const context = createSystemContext('signed link', this.ids.uuid());
    return getFirstRowOrNull<WorkspaceRow>(
      await executeWorkspaceCommand(this.store, { target: { id }, command, actor: null, context }),
    );
  }
}

/** They change the workspace's own row only: where that is gone, with its organization, they find none and leave none. */
const COMMANDS_WITHOUT_ROWS: readonly WorkspaceCommand['type'][] = [
  'LockWorkspace',
  'UnlockWorkspace',
  'ForceUnlockWorkspace',
];

/** The organization's deletion takes all rows of its workspaces along; those that came after it would stay. */
const buildPreconditions = (
  { type }: ExistingWorkspaceCommand,
  named: CommandReferences,
  found: WorkspaceForCommand,
): readonly StreamWrite[] => [
  ...(COMMANDS_WITHOUT_ROWS.includes(type) ? [] : [expectVersion(found.organization, found.organizationVersion)]),
  ...(named.project && found.projectVersion ? [expectVersion(named.project, found.projectVersion)] : []),
  ...(named.tags && !named.project ? [expectVersion(found.project, found.homeVersion)] : []),
  ...expectPoolVersion(named.pool, found.poolVersion, POOL_ERROR_TEXTS),
];
