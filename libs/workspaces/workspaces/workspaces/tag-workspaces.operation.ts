import type { Sql } from '#platform/kernel';
import { expectVersion, type EventStore, type StreamWrite } from '#storage/event-store';
import { raiseConflictWhenFixedKeysChanged } from '#organizations/tag-bindings';
import { appendToWorkspaces, requirePermissionOnEach } from './bulk-append.writes.js';
import type { WorkspaceOperations } from './workspaces.commands.js';
import { loadTagAddition, type TagAddition, type TaggedWorkspace } from '../tags/flat-tags.queries.js';

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

/** Adds a flat tag to workspaces, all of them or none. */
export const tagWorkspaces = (
  store: EventStore,
  { tag, workspaces, actor }: WorkspaceOperations['TagWorkspaces']['input'],
): Promise<void> =>
  store.retryOnConflict(async () => {
    const addition = await loadTagAddition(store.database, actor, tag, workspaces);
    requirePermissionOnEach(actor, 'tag-workspace', addition.workspaces, workspaces);
    const toTask = ({ id, snapshot, fixed }: TaggedWorkspace) => {
      const data = { names: [addition.name], at: `/data/${workspaces.indexOf(id)}`, fixed };
      return { id, snapshot, command: { type: 'AddTags', data } } as const;
    };
    const options = { ...addition, ...buildTaggingGuards(addition) };
    await appendToWorkspaces(store, options, addition.workspaces.map(toTask), actor);
  });
