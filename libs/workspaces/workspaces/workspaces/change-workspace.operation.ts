import { notFound, Refusal, type EventContext, type Sql, type Timestamp } from '#platform/kernel';
import { expectVersion, type EventStore, type StreamWrite } from '#storage/event-store';
import type { DatabaseRow, KeyedQuery } from '#platform/postgres';
import type { Actor } from '#api/access';
import { expectPoolVersion } from '#organizations/agents';
import { expectSshKeyVersion } from '#organizations/ssh-keys';
import { requireConnectionUse } from '#vcs/connections';
import { listTagIds, raiseConflictWhenFixedKeysChanged, resolveTagNames } from '#organizations/tag-bindings';
import { getRequestedToken } from '../settings/settings.js';
import type { SiteRelease } from '../tool-versions/tool-versions.view.js';
import type { WorkspaceState } from './workspace-state.js';
import { workspace, type WorkspaceCommand, type WorkspaceDecisionContext } from './workspace.js';
import type { ExistingWorkspaceData, VersionCheck } from './workspaces.commands.js';
import { authorize } from './workspaces.permissions.js';
import {
  loadWorkspaceForCommand,
  selectWorkspaceById,
  type CommandReferences,
  type WorkspaceForCommand,
  type WorkspaceTarget,
} from './workspaces.queries.js';
import { POOL_ERROR_TEXTS, refuseProject, refuseTakenWorkspaceName } from './workspaces.refusals.js';

/** How the handler prepares one command before the decision. */
type CommandPreparation<Data> = {
  /** Other resources that the command refers to. The query loads them together with the workspace. */
  readonly references: (data: Data) => Partial<CommandReferences>;
  /** Adds the loaded facts to the command. */
  readonly toCommand: (data: Data, row: WorkspaceForCommand) => WorkspaceCommand;
  /**
   * Whether the command inserts rows besides the row of the workspace. The append then fails if the organization is
   * deleted meanwhile, because that deletion removes only the rows that exist at that time.
   */
  readonly insertsRows: boolean;
};

const NO_REFERENCES: CommandReferences = {
  project: null,
  pool: null,
  sshKey: null,
  tags: false,
  tagIds: [],
  consumers: false,
  toolVersion: false,
  vcsRepo: null,
};

/** Returns the problem with the requested tool version as facts for the decision. */
export const describeVersionProblem = (
  find: VersionCheck | undefined,
  site: readonly SiteRelease[],
): Pick<WorkspaceDecisionContext, 'versionProblem'> => {
  const versionProblem = find?.(site) ?? null;
  return versionProblem === null ? {} : { versionProblem };
};

const refuseUnknownTag = (id: string) => notFound(`Tag ${id} not found`);

const PREPARATIONS: { readonly [T in keyof ExistingWorkspaceData]: CommandPreparation<ExistingWorkspaceData[T]> } = {
  UpdateWorkspace: {
    references: ({ project, changes, bindings }) => ({
      project: project || null,
      pool: changes.agentPoolId || null,
      tags: bindings !== undefined || Boolean(project),
      consumers: changes.globalRemoteState === true || changes.projectRemoteState === true,
      toolVersion: changes.terraformVersion !== undefined,
      vcsRepo: changes.vcsRepo ?? null,
    }),
    toCommand: ({ findVersionProblem, ...data }, { followedMode, fixed, consumers, siteReleases }) => ({
      type: 'UpdateWorkspace',
      data: { ...data, followedMode, fixed, consumers, ...describeVersionProblem(findVersionProblem, siteReleases) },
    }),
    insertsRows: true,
  },
  DeleteWorkspace: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'DeleteWorkspace', data }),
    insertsRows: true,
  },
  AssignSshKey: {
    references: ({ key }) => ({ sshKey: key }),
    toCommand: (data) => ({ type: 'AssignSshKey', data }),
    insertsRows: true,
  },
  LockWorkspace: {
    references: () => ({}),
    toCommand: (data, { snapshot: { lockedSince, isHolderHidden } }) => ({
      type: 'LockWorkspace',
      data: { ...data, lockedSince, isHolderHidden },
    }),
    insertsRows: false,
  },
  RenewLock: {
    references: () => ({}),
    toCommand: (data, { snapshot: { lockedSince, isHolderHidden } }) => ({
      type: 'RenewLock',
      data: { ...data, lockedSince, isHolderHidden },
    }),
    insertsRows: false,
  },
  UnlockWorkspace: {
    references: () => ({}),
    toCommand: (data, { snapshot: { lockedSince, isHolderHidden } }) => ({
      type: 'UnlockWorkspace',
      data: { ...data, lockedSince, isHolderHidden },
    }),
    insertsRows: false,
  },
  ForceUnlockWorkspace: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'ForceUnlockWorkspace', data }),
    insertsRows: false,
  },
  ExpireLock: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'ExpireLock', data }),
    insertsRows: false,
  },
  AddTags: {
    references: ({ tags }) => ({ tags: true, tagIds: listTagIds(tags) }),
    toCommand: ({ tags }, { tagNames, fixed }) => ({
      type: 'AddTags',
      data: { names: resolveTagNames(tags, tagNames, refuseUnknownTag), fixed },
    }),
    insertsRows: true,
  },
  RemoveTags: {
    references: ({ tags }) => ({ tagIds: listTagIds(tags) }),
    toCommand: ({ tags }, { tagNames }) => ({
      type: 'RemoveTags',
      data: { names: resolveTagNames(tags, tagNames, refuseUnknownTag) },
    }),
    insertsRows: true,
  },
  BindTags: {
    references: () => ({ tags: true }),
    toCommand: (data, { fixed }) => ({ type: 'BindTags', data: { ...data, fixed } }),
    insertsRows: true,
  },
  CreateStateVersion: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'CreateStateVersion', data }),
    insertsRows: true,
  },
  FinalizeStateVersion: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'FinalizeStateVersion', data }),
    insertsRows: true,
  },
  FailStateVersion: {
    references: () => ({}),
    toCommand: (data) => ({ type: 'FailStateVersion', data }),
    insertsRows: false,
  },
};

const buildPreconditions = (
  insertsRows: boolean,
  { project, pool, tags }: CommandReferences,
  row: WorkspaceForCommand,
): readonly StreamWrite[] => [
  ...(insertsRows ? [expectVersion(row.organization, row.organizationVersion)] : []),
  ...(project && row.projectVersion ? [expectVersion(project, row.projectVersion)] : []),
  ...(tags && !project ? [expectVersion(row.project, row.homeVersion)] : []),
  ...expectPoolVersion(pool, row.poolVersion, POOL_ERROR_TEXTS),
];

/** Throws 422 if the command lets the workspace read a repository with a connection that the caller may not use for it. */
const checkConnection = (
  actor: Actor,
  { vcsRepo }: CommandReferences,
  { organization, isConnectionPermitted }: WorkspaceForCommand,
  state: WorkspaceState,
): void => {
  if (state.status !== 'active') return;
  const token = getRequestedToken(state.settings.vcsRepo, vcsRepo);
  if (token !== null) requireConnectionUse(actor, organization, token, isConnectionPermitted);
};

type ExistingWorkspaceTask<T extends keyof ExistingWorkspaceData> = {
  readonly target: WorkspaceTarget;
  readonly data: ExistingWorkspaceData[T];
  /** Null only for uploads through a signed link. Other modules cannot pass null (workspaces.commands.spec.ts). */
  readonly actor: Actor | null;
  readonly context: EventContext;
};

/**
 * Executes a command on one workspace. Appends the events of a command, and resolves to the rows that the query `read`
 * returns in the same transaction.
 */
export const changeWorkspace = async <T extends keyof ExistingWorkspaceData>(
  store: EventStore,
  type: T,
  { target, data, actor, context }: ExistingWorkspaceTask<T>,
  read: (workspace: string) => Sql | KeyedQuery = (id) => selectWorkspaceById(id, actor),
): Promise<readonly DatabaseRow[][]> => {
  const preparation: CommandPreparation<ExistingWorkspaceData[T]> = PREPARATIONS[type];
  const references = { ...NO_REFERENCES, ...preparation.references(data) };
  const { rows } = await store
    .handle({
      decider: workspace,
      load: async () => {
        const row = await loadWorkspaceForCommand(store.database, actor, target, references);
        if (actor) authorize(actor, type, data, row);
        if (references.project && row.projectVersion === null) throw refuseProject();
        const sshKey = expectSshKeyVersion(references.sshKey, row.sshKeyVersion);
        const restored = await store.restore(row.id, workspace, row.snapshot);
        if (actor) checkConnection(actor, references, row, restored.state);
        return { ...restored, row, sshKey };
      },
      command: ({ row }) => preparation.toCommand(data, row),
      organization: ({ row }) => row.organization,
      preconditions: ({ row, sshKey }) => [...buildPreconditions(preparation.insertsRows, references, row), ...sshKey],
      context,
      read: ({ stream, row }) => [
        read(stream),
        ...(references.tags ? [raiseConflictWhenFixedKeysChanged(references.project ?? row.project, row.fixed)] : []),
      ],
    })
    .catch(refuseTakenWorkspaceName);
  return rows;
};

/** Executes a command of the server itself. Does nothing if the workspace was deleted. */
const changeIfPresent = async <T extends 'FailStateVersion' | 'ExpireLock'>(
  store: EventStore,
  type: T,
  task: Omit<ExistingWorkspaceTask<T>, 'actor'>,
): Promise<void> => {
  await changeWorkspace(store, type, { ...task, actor: null }).catch((error: unknown) => {
    if (!(error instanceof Refusal && error.kind === 'not-found')) throw error;
  });
};

/** Ends a state version whose file was refused or never uploaded. Does nothing if the version or its workspace has ended. */
export const failStateVersion = (
  store: EventStore,
  id: string,
  stateVersion: string,
  context: EventContext,
): Promise<void> => changeIfPresent(store, 'FailStateVersion', { target: { id }, data: { id: stateVersion }, context });

/** Ends a lock whose lease is over. Does nothing if its holder was faster. */
export const expireLock = (store: EventStore, id: string, now: Timestamp, context: EventContext): Promise<void> =>
  changeIfPresent(store, 'ExpireLock', { target: { id }, data: { now }, context });
