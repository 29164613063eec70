import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Sql } from '#kernel';
import { EventStore, expectVersion, type StreamWrite } from '#event-store';
import type { Actor } from '#access';
import { raiseConflictWhenFixedKeysChanged } from '#tag-bindings';
import {
  loadNextRemovalStep,
  loadFirstRemovalStep,
  loadTagAddition,
  type TagRemovalStep,
  type TaggedWorkspace,
  type TagAddition,
} from './flat-tags.queries.js';
import { appendToWorkspaces, requirePermissionOnEach } from '../workspaces/bulk-append.writes.js';
import { DeleteTags, TagWorkspaces } from '../workspaces/workspaces.commands.js';

@CommandHandler(TagWorkspaces)
export class TagWorkspacesHandler implements ICommandHandler<TagWorkspaces> {
  constructor(private readonly store: EventStore) {}

  async execute({ tag, workspaces, actor }: TagWorkspaces): Promise<void> {
    await this.store.untilFirst(async () => {
      const tagging = await loadTagAddition(this.store.database, actor, tag, workspaces);
      requirePermissionOnEach(actor, 'tag-workspace', tagging.workspaces, workspaces);
      const commandFor = ({ id, snapshot, fixed }: TaggedWorkspace) => {
        const data = { names: [tagging.name], at: `/data/${workspaces.indexOf(id)}`, fixed };
        return { id, snapshot, command: { type: 'AddTags', data } } as const;
      };
      await appendToWorkspaces(
        this.store,
        { ...tagging, ...buildTaggingGuards(tagging) },
        tagging.workspaces.map(commandFor),
        actor,
      );
    });
  }
}

/** The projects at their versions, and what they fix. */
const buildTaggingGuards = ({
  workspaces,
}: TagAddition): { readonly preconditions: readonly StreamWrite[]; readonly checks: readonly Sql[] } => {
  // In one order, or two such requests wait for one another.
  const byProject = [...new Map(workspaces.map((one) => [one.project, one])).values()].toSorted((a, b) =>
    a.project < b.project ? -1 : 1,
  );
  return {
    preconditions: byProject.map(({ project, projectVersion }) => expectVersion(project, projectVersion)),
    checks: byProject.map(({ project, fixed }) => raiseConflictWhenFixedKeysChanged(project, fixed)),
  };
};

/** Of a tag that a hundred thousand workspaces carry: each is an event in its own stream, and one append of so many. */
const WORKSPACES_PER_APPEND = 250;

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
    let done = await this.step(actor, () =>
      loadFirstRemovalStep(database, actor, organization, tags, WORKSPACES_PER_APPEND),
    );
    while (!isLastStep(done))
      done = await this.step(actor, () => loadNextRemovalStep(database, done, WORKSPACES_PER_APPEND));
  }

  private step(actor: Actor, next: () => Promise<TagRemovalStep>): Promise<TagRemovalStep> {
    return this.store.untilFirst(async () => {
      const removal = await next();
      const command = { type: 'RemoveTags', data: { names: removal.names } } as const;
      const losing = isLastStep(removal) ? [...removal.carriers, ...removal.last] : removal.carriers;
      await appendToWorkspaces(
        this.store,
        removal,
        losing.map((one) => ({ ...one, command })),
        actor,
      );
      return removal;
    });
  }
}

const isLastStep = ({ carriers }: TagRemovalStep): boolean => carriers.length < WORKSPACES_PER_APPEND;
