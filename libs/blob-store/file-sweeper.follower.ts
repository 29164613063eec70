import { sql, type DataOf, type Message, type OrganizationDeleted, type RecordedEvent, type Sql } from '#kernel';
import type { Follower } from '#event-store';

/** What an event means for files: some may be here from now on, or are no longer wanted. `owner`: the stream they go with. */
export type FileChange = { readonly stored: string; readonly owner: string } | { readonly deletedOwner: string };

export type FileSweeperOptions<E extends Message> = {
  readonly name: string;
  /** `(id, owner, organization)`, in no view: it must outlive what it is about. */
  readonly table: string;
  /** The event that ends an owner, with all of its files. */
  readonly ownerEnds: string;
  readonly on: { readonly [T in E['type']]: (data: DataOf<E, T>, event: RecordedEvent) => FileChange };
  /** Files that are not there are removed already. */
  readonly remove: (id: string) => Promise<void>;
};

type TrackedFile = { readonly id: string; readonly owner: string; readonly organization: string };

const ORGANIZATION_DELETED: OrganizationDeleted['type'] = 'OrganizationDeleted';

const listStreams = (events: readonly RecordedEvent[], type: string): string[] =>
  events.filter((event) => event.type === type).map(({ stream }) => stream);

/**
 * Removes files that are no longer wanted, alone or with their owner or organization. The log knows who had any, and no
 * process that is killed between an event and its files leaves them behind: the batch comes again, and what is removed
 * already stays so.
 */
export const createFileSweeper = <E extends Message>({
  name,
  table,
  ownerEnds,
  on,
  remove,
}: FileSweeperOptions<E>): Follower => {
  const rows = sql.raw(table);
  const turns = on as Readonly<Record<string, ((data: unknown, event: RecordedEvent) => FileChange) | undefined>>;

  const turnsIn = (events: readonly RecordedEvent[]): { readonly born: TrackedFile[]; readonly gone: string[] } => {
    const born: TrackedFile[] = [];
    const gone: string[] = [];
    for (const event of events) {
      const turn = turns[event.type]?.(event.data, event);
      if (!turn) continue;
      if ('deletedOwner' in turn) gone.push(turn.deletedOwner);
      else born.push({ id: turn.stored, owner: turn.owner, organization: event.organization ?? '' });
    }
    return { born, gone };
  };

  return {
    name,
    batch: 500,
    only: [...Object.keys(on), ownerEnds, ORGANIZATION_DELETED],
    tables: [],
    follow: async (events, session) => {
      const { born, gone } = turnsIn(events);
      const owners = listStreams(events, ownerEnds);
      const organizations = listStreams(events, ORGANIZATION_DELETED);
      const deleted = new Set([...owners, ...organizations]);
      const orphans =
        deleted.size === 0
          ? []
          : await session.run<{ id: string }>(sql`
              select id from ${rows}
               where owner = any (${owners}::text[]) or organization = any (${organizations}::text[])`);
      const stillborn = born.filter((kept) => deleted.has(kept.owner) || deleted.has(kept.organization));
      const swept = [...new Set([...gone, ...[...orphans, ...stillborn].map(({ id }) => id)])];
      for (const id of swept) await remove(id);
      return [
        ...(born.length > 0 ? [insertFiles(rows, born)] : []),
        ...(swept.length > 0 ? [deleteFiles(rows, swept)] : []),
      ];
    },
  };
};

const insertFiles = (rows: Sql, born: readonly TrackedFile[]): Sql => sql`
  insert into ${rows} (id, owner, organization)
  select id, owner, organization
    from jsonb_to_recordset(${sql.json(born)}::jsonb) as list (id text, owner text, organization text)
  on conflict (id) do nothing`;

const deleteFiles = (rows: Sql, ids: readonly string[]): Sql =>
  sql`delete from ${rows} where id = any (${ids}::text[])`;
