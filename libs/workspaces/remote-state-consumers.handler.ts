import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refused, type Problem } from '#kernel';
import { EventStore, unchanged, writeOf, type Write } from '#event-store';
import { contextOf, demand, may, type Actor, type Permission } from '#access';
import { consumersForCommand, type ConsumersForCommand } from './remote-state-consumers.queries.js';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { workspace } from './workspace.js';

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
    const found = await consumersForCommand(this.store.database, actor, id, { named, all });
    demand(actor, 'read-workspace', found);
    demand(actor, PERMISSION[type], found);
    const loaded = await this.store.restore(id, workspace, found.snapshot);
    const command = { type, data: { workspaces: named, present: found.present } };
    const write = writeOf(workspace, loaded, found.organization, command);
    checkNamed(consumers, found, { actor, type });
    if (write.events.length === 0) return;
    const held = unchanged(found.organization, found.organizationVersion);
    await this.store.append([held, ...inOrder([...comingTo(found), write])], contextOf(actor));
  }
}

/** Refuses what is none of the organization's, or not the caller's to see, each by its place in the request. */
const checkNamed = (
  named: readonly string[],
  { id: self, consumers }: ConsumersForCommand,
  { actor, type }: { readonly actor: Actor; readonly type: ConsumerCommand['type'] },
): void => {
  const seen = new Set(consumers.filter((one) => may(actor, 'read-workspace', one)).map(({ id }) => id));
  const problems = named.flatMap((id, index): Problem[] => {
    const pointer = `/data/${index}/id`;
    if (!seen.has(id)) return [{ detail: `Workspace ${id} does not exist`, pointer }];
    if (id !== self || type === 'RemoveRemoteStateConsumers') return [];
    return [{ detail: 'A workspace cannot be its own remote state consumer', pointer }];
  });
  if (problems.length > 0) throw new Refused('unprocessable', problems);
};

/** Who is deleted meanwhile would leave rows behind; of those that are there already, the deletion takes them along. */
const comingTo = ({ consumers, present }: ConsumersForCommand): readonly Write[] => {
  const there = new Set(present);
  return consumers.filter(({ id }) => !there.has(id)).map(({ id, version }) => unchanged(id, version));
};

/** Two workspaces that come to one another at the same time would else wait for one another. */
const inOrder = (writes: readonly Write[]): Write[] => writes.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
