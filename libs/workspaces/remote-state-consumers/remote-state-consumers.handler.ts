import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal, type Problem } from '#kernel';
import { EventStore, expectVersion, decideWrite, type StreamWrite } from '#event-store';
import { createEventContext, requirePermission, can, type Actor, type Permission } from '#access';
import { loadConsumersForCommand, type ConsumersForCommand } from './remote-state-consumers.queries.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { workspace } from '../workspaces/workspace.js';

/** Changes who may read the state of a workspace, for all that are named or for none. */
export class ChangeRemoteStateConsumers extends Command<void> {
  constructor(
    readonly workspace: string,
    readonly change: ConsumerCommand['type'],
    /** As they stand in the request. */
    readonly consumers: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

const PERMISSION = {
  AddRemoteStateConsumers: 'update-workspace',
  RemoveRemoteStateConsumers: 'update-workspace',
  ReplaceRemoteStateConsumers: 'replace-remote-state-consumers',
} as const satisfies Record<ConsumerCommand['type'], Permission>;

@CommandHandler(ChangeRemoteStateConsumers)
export class ChangeRemoteStateConsumersHandler implements ICommandHandler<ChangeRemoteStateConsumers> {
  constructor(private readonly store: EventStore) {}

  async execute(command: ChangeRemoteStateConsumers): Promise<void> {
    await this.store.untilFirst(() => this.change(command));
  }

  private async change({ workspace: id, change: type, consumers, actor }: ChangeRemoteStateConsumers): Promise<void> {
    const named = [...new Set(consumers)];
    const all = type === 'ReplaceRemoteStateConsumers';
    const found = await loadConsumersForCommand(this.store.database, actor, id, { named, all });
    requirePermission(actor, 'read-workspace', found);
    requirePermission(actor, PERMISSION[type], found);
    const loaded = await this.store.restore(id, workspace, found.snapshot);
    const command = { type, data: { workspaces: named, present: found.present } };
    const write = decideWrite(workspace, loaded, found.organization, command);
    checkConsumers(consumers, found, { actor, type });
    if (write.events.length === 0) return;
    const held = expectVersion(found.organization, found.organizationVersion);
    await this.store.append([held, ...sortWrites([...buildPreconditions(found), write])], createEventContext(actor));
  }
}

/** Refuses what is none of the organization's, or not the caller's to see, each by its place in the request. */
const checkConsumers = (
  named: readonly string[],
  { id: self, consumers }: ConsumersForCommand,
  { actor, type }: { readonly actor: Actor; readonly type: ConsumerCommand['type'] },
): void => {
  const seen = new Set(consumers.filter((one) => can(actor, 'read-workspace', one)).map(({ id }) => id));
  const problems = named.flatMap((id, index): Problem[] => {
    const pointer = `/data/${index}/id`;
    if (!seen.has(id)) return [{ detail: `Workspace ${id} does not exist`, pointer }];
    if (id !== self || type === 'RemoveRemoteStateConsumers') return [];
    return [{ detail: 'A workspace cannot be its own remote state consumer', pointer }];
  });
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/** Who is deleted meanwhile would leave rows behind; of those that are there already, the deletion takes them along. */
const buildPreconditions = ({ consumers, present }: ConsumersForCommand): readonly StreamWrite[] => {
  const there = new Set(present);
  return consumers.filter(({ id }) => !there.has(id)).map(({ id, version }) => expectVersion(id, version));
};

/** Two workspaces that come to one another at the same time would else wait for one another. */
const sortWrites = (writes: readonly StreamWrite[]): StreamWrite[] =>
  writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
