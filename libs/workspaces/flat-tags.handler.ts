import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Sql } from '#kernel';
import { EventStore, unchanged, type Write } from '#event-store';
import type { Actor } from '#access';
import { fixedKeysChanged } from '#tag-bindings';
import {
  removalAfter,
  removalOf,
  taggingOf,
  type Removal,
  type TaggedWorkspace,
  type Tagging,
} from './flat-tags.queries.js';
import { appendToEach, demandEach } from './several-workspaces.writes.js';
import { DeleteTags, TagWorkspaces } from './workspaces.commands.js';

@CommandHandler(TagWorkspaces)
export class TagWorkspacesHandler implements ICommandHandler<TagWorkspaces> {
  constructor(private readonly store: EventStore) {}

  async execute({ tag, workspaces, actor }: TagWorkspaces): Promise<void> {
    await this.store.untilFirst(async () => {
      const tagging = await taggingOf(this.store.database, actor, tag, workspaces);
      demandEach(actor, 'tag-workspace', tagging.workspaces, workspaces);
      const commandFor = ({ id, snapshot, fixed }: TaggedWorkspace) => {
        const data = { names: [tagging.name], at: `/data/${workspaces.indexOf(id)}`, fixed };
        return { id, snapshot, command: { type: 'AddTags', data } } as const;
      };
      await appendToEach(this.store, { ...tagging, ...guardsOf(tagging) }, tagging.workspaces.map(commandFor), actor);
    });
  }
}

/** The projects at their versions, and what they fix. */
const guardsOf = ({ workspaces }: Tagging): { readonly held: readonly Write[]; readonly checks: readonly Sql[] } => {
  // In one order, or two such requests wait for one another.
  const byProject = [...new Map(workspaces.map((one) => [one.project, one])).values()].toSorted((a, b) =>
    a.project < b.project ? -1 : 1,
  );
  return {
    held: byProject.map(({ project, projectVersion }) => unchanged(project, projectVersion)),
    checks: byProject.map(({ project, fixed }) => fixedKeysChanged(project, fixed)),
  };
};

/** Of a tag that a hundred thousand workspaces carry: each is an event in its own stream, and one append of so many. */
const A_TIME = 250;

/**
 * In steps, each of them one append: a workspace loses all of the tags at once, with an event for each. One workspace for
 * each tag is kept for the last step. Whoever is not answered may ask for the same again, and the rest goes as well: only
 * when all of it is done there are no such tags any more, and not-found is the answer. Who is tagged meanwhile keeps it,
 * or not: that comes before, or after.
 */
@CommandHandler(DeleteTags)
export class DeleteTagsHandler implements ICommandHandler<DeleteTags> {
  constructor(private readonly store: EventStore) {}

  async execute({ organization, tags, actor }: DeleteTags): Promise<void> {
    const { database } = this.store;
    let done = await this.step(actor, () => removalOf(database, actor, organization, tags, A_TIME));
    while (!isLast(done)) done = await this.step(actor, () => removalAfter(database, done, A_TIME));
  }

  private step(actor: Actor, next: () => Promise<Removal>): Promise<Removal> {
    return this.store.untilFirst(async () => {
      const removal = await next();
      const command = { type: 'RemoveTags', data: { names: removal.names } } as const;
      const losing = isLast(removal) ? [...removal.carriers, ...removal.last] : removal.carriers;
      await appendToEach(
        this.store,
        removal,
        losing.map((one) => ({ ...one, command })),
        actor,
      );
      return removal;
    });
  }
}

const isLast = ({ carriers }: Removal): boolean => carriers.length < A_TIME;
