import { notFound, type Sql } from '#platform/kernel';
import {
  expectVersion,
  decideWrite,
  type EventStore,
  type StreamSnapshot,
  type StreamWrite,
} from '#storage/event-store';
import { createEventContext, can, type Actor, type Permission, type PermissionScope } from '#api/access';
import { workspace, type WorkspaceCommand } from './workspace.js';

/**
 * Throws not-found for the first requested workspace that the caller may not read, or forbidden if the caller lacks the
 * permission on it.
 */
export const requirePermissionOnEach = (
  actor: Actor,
  permission: Permission,
  readable: readonly (PermissionScope & { readonly id: string })[],
  requested: readonly string[],
): void => {
  const allowed = readable.filter((one) => can(actor, 'read-workspace', one) && can(actor, permission, one));
  const ids = new Set(allowed.map(({ id }) => id));
  const missing = requested.find((id) => !ids.has(id));
  if (missing !== undefined) throw notFound(`Workspace ${missing} not found`);
};

type WorkspaceTask = { readonly id: string; readonly snapshot: StreamSnapshot; readonly command: WorkspaceCommand };

type BulkAppendOptions = {
  readonly organization: string;
  readonly organizationVersion: number;
  /** Preconditions besides the version of the organization. */
  readonly preconditions?: readonly StreamWrite[];
  /** Statements that raise a conflict in the append. */
  readonly checks?: readonly Sql[];
};

/** Runs a command on each of some workspaces of one organization, in one append; appends nothing if nothing changes. */
export const appendToWorkspaces = async (
  store: EventStore,
  { organization, organizationVersion, preconditions = [], checks = [] }: BulkAppendOptions,
  commands: readonly WorkspaceTask[],
  actor: Actor,
): Promise<void> => {
  const writeFor = async ({ id, snapshot, command }: WorkspaceTask): Promise<StreamWrite> =>
    decideWrite(workspace, await store.restore(id, workspace, snapshot), organization, command);
  const writes = (await Promise.all(commands.map(writeFor))).filter(({ events }) => events.length > 0);
  if (writes.length === 0) return;
  // In one order: otherwise two such appends could deadlock.
  const ordered = writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
  await store.append(
    [expectVersion(organization, organizationVersion), ...preconditions, ...ordered],
    createEventContext(actor),
    checks,
  );
};
