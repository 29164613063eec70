import { Refusal, type Problem } from '#platform/kernel';
import { decideWrite, expectVersion, type EventStore, type StreamWrite } from '#storage/event-store';
import { createEventContext, requirePermission, can, type Actor, type Permission } from '#api/access';
import { loadConsumersForCommand, type ConsumersForCommand } from './remote-state-consumers.view.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { workspace } from '../workspaces/workspace.js';
import type { WorkspaceOperations } from '../workspaces/workspaces.commands.js';

type ConsumersInput = WorkspaceOperations['AddRemoteStateConsumers']['input'];

const PERMISSION = {
  AddRemoteStateConsumers: 'update-workspace',
  RemoveRemoteStateConsumers: 'update-workspace',
  ReplaceRemoteStateConsumers: 'replace-remote-state-consumers',
} as const satisfies Record<ConsumerCommand['type'], Permission>;

/** Refuses workspaces of other organizations, and workspaces that the caller cannot read. */
const checkConsumers = (
  requested: readonly string[],
  { id: self, consumers }: ConsumersForCommand,
  { actor, type }: { readonly actor: Actor; readonly type: ConsumerCommand['type'] },
): void => {
  const readable = new Set(consumers.filter((one) => can(actor, 'read-workspace', one)).map(({ id }) => id));
  const problems = requested.flatMap((id, index): Problem[] => {
    const pointer = `/data/${index}/id`;
    if (!readable.has(id)) return [{ detail: `Workspace ${id} does not exist`, pointer }];
    if (id !== self || type === 'RemoveRemoteStateConsumers') return [];
    return [{ detail: 'A workspace cannot be its own remote state consumer', pointer }];
  });
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/** The append fails if a new consumer is deleted meanwhile. The deletion would not remove the new row. */
const buildPreconditions = ({ consumers, present }: ConsumersForCommand): readonly StreamWrite[] => {
  const there = new Set(present);
  return consumers.filter(({ id }) => !there.has(id)).map(({ id, version }) => expectVersion(id, version));
};

/** In one order. Otherwise, two workspaces that name each other at the same time could deadlock. */
const sortWrites = (writes: readonly StreamWrite[]): StreamWrite[] =>
  writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));

const appendConsumers = async (
  store: EventStore,
  type: ConsumerCommand['type'],
  { workspace: id, consumers, actor }: ConsumersInput,
): Promise<void> => {
  const references = [...new Set(consumers)];
  const all = type === 'ReplaceRemoteStateConsumers';
  const row = await loadConsumersForCommand(store.database, actor, id, { requested: references, all });
  requirePermission(actor, 'read-workspace', row);
  requirePermission(actor, PERMISSION[type], row);
  const loaded = await store.restore(id, workspace, row.snapshot);
  const command = { type, data: { workspaces: references, present: row.present } };
  const write = decideWrite(workspace, loaded, row.organization, command);
  checkConsumers(consumers, row, { actor, type });
  if (write.events.length === 0) return;
  const organization = expectVersion(row.organization, row.organizationVersion);
  await store.append([organization, ...sortWrites([...buildPreconditions(row), write])], createEventContext(actor));
};

/** Changes which workspaces can read the state of a workspace. Changes all of the requested consumers or none. */
export const changeRemoteStateConsumers = (
  store: EventStore,
  type: ConsumerCommand['type'],
  input: ConsumersInput,
): Promise<void> => store.retryOnConflict(() => appendConsumers(store, type, input));
