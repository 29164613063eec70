import { sql, type DataOf, type Message, type OrganizationDeleted, type Recorded, type Sql } from '#kernel';
import type { Follower } from '#event-store';

/** What an event means for files: some may be here from now on, or are no longer wanted. `owner`: the stream they go with. */
export type Turn = { readonly born: string; readonly owner: string } | { readonly gone: string };

export type Sweep<E extends Message> = {
  readonly name: string;
  /** `(id, owner, organization)`, in no view: it must outlive what it is about. */
  readonly table: string;
  /** The event that ends an owner, with all of its files. */
  readonly ownerEnds: string;
  readonly on: { readonly [T in E['type']]: (data: DataOf<E, T>, event: Recorded) => Turn };
  /** Files that are not there are removed already. */
  readonly remove: (id: string) => Promise<void>;
};

type Kept = { readonly id: string; readonly owner: string; readonly organization: string };

const ORGANIZATION_DELETED: OrganizationDeleted['type'] = 'OrganizationDeleted';

const streamsOf = (events: readonly Recorded[], type: string): string[] =>
  events.filter((event) => event.type === type).map(({ stream }) => stream);

/**
 * Removes files that are no longer wanted, alone or with their owner or organization. The log knows who had any, and no
 * process that is killed between an event and its files leaves them behind: the batch comes again, and what is removed
 * already stays so.
 */
export const fileSweeper = <E extends Message>({ name, table, ownerEnds, on, remove }: Sweep<E>): Follower => {
  const rows = sql.raw(table);
  const turns = on as Readonly<Record<string, ((data: unknown, event: Recorded) => Turn) | undefined>>;

  const turnsIn = (events: readonly Recorded[]): { readonly born: Kept[]; readonly gone: string[] } => {
    const born: Kept[] = [];
    const gone: string[] = [];
    for (const event of events) {
      const turn = turns[event.type]?.(event.data, event);
      if (!turn) continue;
      if ('gone' in turn) gone.push(turn.gone);
      else born.push({ id: turn.born, owner: turn.owner, organization: event.organization ?? '' });
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
      const owners = streamsOf(events, ownerEnds);
      const organizations = streamsOf(events, ORGANIZATION_DELETED);
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
      return [...(born.length > 0 ? [keep(rows, born)] : []), ...(swept.length > 0 ? [forget(rows, swept)] : [])];
    },
  };
};

const keep = (rows: Sql, born: readonly Kept[]): Sql => sql`
  insert into ${rows} (id, owner, organization)
  select id, owner, organization
    from jsonb_to_recordset(${sql.json(born)}::jsonb) as list (id text, owner text, organization text)
  on conflict (id) do nothing`;

const forget = (rows: Sql, ids: readonly string[]): Sql => sql`delete from ${rows} where id = any (${ids}::text[])`;
