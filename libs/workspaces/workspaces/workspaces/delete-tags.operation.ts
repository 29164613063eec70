import type { EventStore } from '#storage/event-store';
import type { Actor } from '#api/access';
import { appendToWorkspaces } from './bulk-append.writes.js';
import type { WorkspaceOperations } from './workspaces.commands.js';
import { loadFirstRemovalStep, loadNextRemovalStep, type TagRemovalStep } from '../tags/flat-tags.queries.js';

/** A hundred thousand workspaces can have one tag. Each of them gets an event of its own, so an append is limited. */
const WORKSPACES_PER_APPEND = 250;

const isLastStep = ({ carriers }: TagRemovalStep): boolean => carriers.length < WORKSPACES_PER_APPEND;

const removeTagsInOneAppend = (
  store: EventStore,
  actor: Actor,
  loadStep: () => Promise<TagRemovalStep>,
): Promise<TagRemovalStep> =>
  store.retryOnConflict(async () => {
    const step = await loadStep();
    const command = { type: 'RemoveTags', data: { names: step.names } } as const;
    const workspaces = isLastStep(step) ? [...step.carriers, ...step.last] : step.carriers;
    await appendToWorkspaces(
      store,
      step,
      workspaces.map((workspace) => ({ ...workspace, command })),
      actor,
    );
    return step;
  });

/**
 * Deletes tags in several appends: a workspace loses all of the tags in one of them. One workspace for each tag is left
 * for the last append, so the tags exist until then. If a request is interrupted, the client can repeat it: the server
 * deletes the rest, and returns 404 only after all of the tags are gone. A workspace that is tagged meanwhile may keep
 * the tag.
 */
export const deleteTags = async (
  store: EventStore,
  { organization, tags, actor }: WorkspaceOperations['DeleteTags']['input'],
): Promise<void> => {
  const { database } = store;
  let step = await removeTagsInOneAppend(store, actor, () =>
    loadFirstRemovalStep(database, actor, organization, tags, WORKSPACES_PER_APPEND),
  );
  while (!isLastStep(step)) {
    const previous = step;
    step = await removeTagsInOneAppend(store, actor, () =>
      loadNextRemovalStep(database, previous, WORKSPACES_PER_APPEND),
    );
  }
};
