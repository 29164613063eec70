import {
  sql,
  type DataOf,
  type Message,
  type OrganizationDeleted,
  type RecordedEvent,
  type Sql,
} from '#platform/kernel';
import type { Follower } from '#storage/event-store';

/**
 * The effect of an event on files: a file may exist from now on, or is no longer needed. `owner` is the stream that the
 * file is deleted with.
 */
type FileChange = { readonly stored: string; readonly owner: string } | { readonly removed: string };

export type FileSweeperOptions<E extends Message> = {
  readonly name: string;
  /** Table with the columns `(id, owner, organization)`. It is no view, because it must outlive the owner. */
  readonly table: string;
  /** The types of the events that can delete an owner with all its files, and whether an event does. */
  readonly ownerEnds: Readonly<Record<string, (data: never) => boolean>>;
  /** Null if the event has no effect. */
  readonly on: { readonly [T in E['type']]: (data: DataOf<E, T>, event: RecordedEvent) => FileChange | null };
  /** Removes a file, if it exists. */
  readonly remove: (id: string) => Promise<void>;
};

type TrackedFile = { readonly id: string; readonly owner: string; readonly organization: string };
/** The index of its event in the batch. */
type AddedFile = TrackedFile & { readonly index: number };

const ORGANIZATION_DELETED: OrganizationDeleted['type'] = 'OrganizationDeleted';

/** Returns the streams that the events end, with the index of the last event that does. */
const listEnded = (
  events: readonly RecordedEvent[],
  ends: FileSweeperOptions<Message>['ownerEnds'],
): ReadonlyMap<string, number> =>
  new Map(events.flatMap(({ type, data, stream }, index) => (ends[type]?.(data as never) ? [[stream, index]] : [])));

type FileChanges = Readonly<Record<string, ((data: never, event: RecordedEvent) => FileChange | null) | undefined>>;

const listFileChanges = (
  changesByType: FileChanges,
  events: readonly RecordedEvent[],
): { readonly added: AddedFile[]; readonly removedIds: string[] } => {
  const added: AddedFile[] = [];
  const removedIds: string[] = [];
  for (const [index, event] of events.entries()) {
    const change = changesByType[event.type]?.(event.data as never, event);
    if (!change) continue;
    if ('removed' in change) removedIds.push(change.removed);
    else added.push({ id: change.stored, owner: change.owner, organization: event.organization ?? '', index });
  }
  return { added, removedIds };
};

/**
 * Returns a follower that removes files which are no longer needed, alone or with their owner or organization. The log
 * shows which owners had files. If a process is killed between an event and the removal, the batch runs again, and
 * removed files stay removed.
 */
export const createFileSweeper = <E extends Message>({
  name,
  table,
  ownerEnds,
  on,
  remove,
}: FileSweeperOptions<E>): Follower => {
  const tableName = sql.raw(table);
  return {
    name,
    batch: 500,
    only: [...Object.keys(on), ...Object.keys(ownerEnds), ORGANIZATION_DELETED],
    // Names of files contain no names of people.
    keepEncrypted: true,
    tables: [],
    follow: async (events, session) => {
      const { added, removedIds } = listFileChanges(on, events);
      const owners = listEnded(events, ownerEnds);
      const organizations = listEnded(events, { [ORGANIZATION_DELETED]: () => true });
      const orphans =
        owners.size + organizations.size === 0
          ? []
          : await session.run<{ id: string }>(sql`
              select id from ${tableName}
               where owner = any (${[...owners.keys()]}::text[]) or organization = any (${[...organizations.keys()]}::text[])`);
      // A recovered workspace has files that were added after its deletion.
      const deletedAtOnce = added.filter(
        ({ owner, organization, index }) =>
          index < (owners.get(owner) ?? -1) || index < (organizations.get(organization) ?? -1),
      );
      const removed = [...new Set([...removedIds, ...[...orphans, ...deletedAtOnce].map(({ id }) => id)])];
      await forEachConcurrently(removed, remove);
      return [
        ...(added.length > 0 ? [insertFiles(tableName, added)] : []),
        ...(removed.length > 0 ? [deleteFiles(tableName, removed)] : []),
      ];
    },
  };
};

/** Files in an object store take some milliseconds each. */
const CONCURRENT_REMOVALS = 16;

const forEachConcurrently = async (ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
  const remaining = ids.values();
  const workers = Array.from({ length: CONCURRENT_REMOVALS }, async () => {
    for (const id of remaining) await work(id);
  });
  await Promise.all(workers);
};

const insertFiles = (tableName: Sql, files: readonly TrackedFile[]): Sql => sql`
  insert into ${tableName} (id, owner, organization)
  select id, owner, organization
    from jsonb_to_recordset(${sql.json(files)}::jsonb) as list (id text, owner text, organization text)
  on conflict (id) do nothing`;

const deleteFiles = (tableName: Sql, ids: readonly string[]): Sql =>
  sql`delete from ${tableName} where id = any (${ids}::text[])`;
