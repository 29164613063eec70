import { notFound, type Sql } from '#kernel';
import { unchanged, writeOf, type EventStore, type Snapshot, type Write } from '#event-store';
import { contextOf, may, type Actor, type Permission, type Place } from '#access';
import { workspace, type WorkspaceCommand } from './workspace.js';

/** Throws not-found for the first of the wanted that the caller may not read, or may not do that with. */
export const demandEach = (
  actor: Actor,
  permission: Permission,
  found: readonly (Place & { readonly id: string })[],
  wanted: readonly string[],
): void => {
  const allowed = found.filter((one) => may(actor, 'read-workspace', one) && may(actor, permission, one));
  const ids = new Set(allowed.map(({ id }) => id));
  const missing = wanted.find((id) => !ids.has(id));
  if (missing !== undefined) throw notFound(`Workspace ${missing} not found`);
};

type Told = { readonly id: string; readonly snapshot: Snapshot; readonly command: WorkspaceCommand };

type Around = {
  readonly organization: string;
  readonly organizationVersion: number;
  /** What is held besides the organization. */
  readonly held?: readonly Write[];
  /** Statements that refuse the append as stale. */
  readonly checks?: readonly Sql[];
};

/** What commands do to workspaces of one organization, in one append; nothing where nothing changes. */
export const appendToEach = async (
  store: EventStore,
  { organization, organizationVersion, held = [], checks = [] }: Around,
  commands: readonly Told[],
  actor: Actor,
): Promise<void> => {
  const writeFor = async ({ id, snapshot, command }: Told): Promise<Write> =>
    writeOf(workspace, await store.restore(id, workspace, snapshot), organization, command);
  const writes = (await Promise.all(commands.map(writeFor))).filter(({ events }) => events.length > 0);
  if (writes.length === 0) return;
  // In one order, or two such appends wait for one another.
  const ordered = writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
  await store.append([unchanged(organization, organizationVersion), ...held, ...ordered], contextOf(actor), checks);
};
