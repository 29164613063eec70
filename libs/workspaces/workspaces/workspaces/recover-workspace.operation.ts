import { forbidden } from '#platform/kernel';
import { expectVersion, type EventStore } from '#storage/event-store';
import {
  can,
  changeResource,
  describeRename,
  recoverResource,
  requirePermission,
  type Actor,
  type RecoveredResource,
  type RecoveryChange,
} from '#api/access';
import { raiseConflictWhenFixedKeysChanged } from '#organizations/tag-bindings';
import { workspace } from './workspace.js';
import type { WorkspaceOperations } from './workspaces.commands.js';
import { getDeletionPermission } from './workspaces.permissions.js';
import { refuseTakenRecoveryName } from './workspaces.refusals.js';
import type { ActiveWorkspace } from './workspace-state.js';
import { loadDeletedWorkspace, type DeletedWorkspaceForCommand } from './deleted-workspaces.queries.js';

/** Returns the deleted workspace. Throws unless the caller may delete it: the same callers may recover and purge it. */
const loadPermitted = async (
  store: EventStore,
  actor: Actor,
  id: string,
  needsForce: (row: DeletedWorkspaceForCommand) => boolean,
) => {
  const row = await loadDeletedWorkspace(store.database, actor, id);
  requirePermission(actor, 'read-workspace', row);
  requirePermission(actor, getDeletionPermission(needsForce(row), row.allowsForceDelete), row);
  return row;
};

/** Throws unless the caller may create workspaces in the project to which the workspace comes back, if its own is gone. */
const requireTarget = (actor: Actor, row: DeletedWorkspaceForCommand): void => {
  const { organization, projectGrants: grants, projectName } = row;
  if (!row.isMoved || can(actor, 'create-workspace', { organization, grants })) return;
  throw forbidden(
    `The project of the workspace is gone, and you may not create workspaces in ${projectName}: let somebody recover it who may`,
  );
};

const loadRecoverable = async (store: EventStore, actor: Actor, id: string): Promise<DeletedWorkspaceForCommand> => {
  const row = await loadPermitted(store, actor, id, () => false);
  requireTarget(actor, row);
  return row;
};

const isPoolUsable = ({ settings: { agentPoolId } }: ActiveWorkspace, { pool }: DeletedWorkspaceForCommand): boolean =>
  agentPoolId === null || pool !== null;

const hasSshKey = (last: ActiveWorkspace, { sshKey }: DeletedWorkspaceForCommand): boolean =>
  last.sshKey === null || sshKey !== null;

const toCommand = (name: string | undefined, row: DeletedWorkspaceForCommand, last: ActiveWorkspace | null) => {
  const { project, fixed } = row;
  const references = { isPoolUsable: !last || isPoolUsable(last, row), hasSshKey: !last || hasSshKey(last, row) };
  return { type: 'RecoverWorkspace', data: { name, project, fixed, ...references } } as const;
};

/** Describes what is not as it was before the deletion. */
const listChanges = (
  name: string | undefined,
  row: DeletedWorkspaceForCommand,
  last: ActiveWorkspace,
): readonly RecoveryChange[] => {
  const isMoved = row.project !== last.project;
  const unbound = isMoved ? row.fixed.filter(({ key }) => last.tags.some((tag) => tag.key === key)) : [];
  return [
    ...describeRename(name, last.name),
    ...(isMoved
      ? [{ field: 'project', detail: `Project ${last.project} is gone: the workspace is in ${row.projectName}` }]
      : []),
    ...(isPoolUsable(last, row)
      ? []
      : [
          {
            field: 'agent-pool',
            detail: `The workspace may not use agent pool ${last.settings.agentPoolId}: its project decides where runs execute`,
          },
        ]),
    ...(hasSshKey(last, row) ? [] : [{ field: 'ssh-key', detail: `SSH key ${last.sshKey} is gone` }]),
    ...unbound.map(({ key, project }) => ({ field: 'tags', detail: `Project ${project} fixes the value of ${key}` })),
  ];
};

/** Brings a deleted workspace back under its id. */
export const recoverWorkspace = (
  store: EventStore,
  { id, name, actor }: WorkspaceOperations['RecoverWorkspace']['input'],
): Promise<RecoveredResource> =>
  recoverResource(store, workspace, {
    actor,
    load: () => loadRecoverable(store, actor, id),
    command: (row, last) => toCommand(name, row, last),
    describe: (row, last) => ({
      name: name ?? last.name,
      project: row.project,
      changes: listChanges(name, row, last),
    }),
    writes: ({ organization, organizationVersion, project, projectVersion, pool, sshKey }) => [
      expectVersion(organization, organizationVersion),
      expectVersion(project, projectVersion),
      ...[pool, sshKey].flatMap((one) => (one ? [expectVersion(one.stream, one.version)] : [])),
    ],
    read: ({ project, fixed }) => [raiseConflictWhenFixedKeysChanged(project, fixed)],
  }).catch(refuseTakenRecoveryName);

/** Ends a deleted workspace before its time. */
export const purgeWorkspace = async (
  store: EventStore,
  { id, actor }: WorkspaceOperations['PurgeWorkspace']['input'],
): Promise<void> => {
  await changeResource(store, workspace, {
    actor,
    load: () => loadPermitted(store, actor, id, ({ isForced }) => isForced),
    command: { type: 'PurgeWorkspace', data: { expired: false } },
    writes: ({ organization, organizationVersion }) => [expectVersion(organization, organizationVersion)],
  });
};
