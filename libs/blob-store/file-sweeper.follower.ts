import { sql, type DataOf, type Message, type Recorded, type Sql } from '#kernel';
import type { Follower } from '#event-store';
import type { OrganizationEvent } from '#organizations';
import type { WorkspaceEvent } from '#workspaces';

/** What an event means for files: somebody who may have some is born, or has none any more. */
export type Turn = { readonly born: string; readonly workspace: string } | { readonly gone: string };

export type Sweep<E extends Message> = {
  readonly name: string;
  /** `(id, workspace, organization)`, in no view: it must outlive what it is about. */
  readonly table: string;
  readonly on: { readonly [T in E['type']]: (data: DataOf<E, T>, event: Recorded) => Turn };
  /** Files that are not there are removed already. */
  readonly remove: (id: string) => Promise<void>;
};

type Kept = { readonly id: string; readonly workspace: string; readonly organization: string };

const WORKSPACE_DELETED: WorkspaceEvent['type'] = 'WorkspaceDeleted';
const ORGANIZATION_DELETED: OrganizationEvent['type'] = 'OrganizationDeleted';

const streamsOf = (events: readonly Recorded[], type: string): string[] =>
  events.filter((event) => event.type === type).map(({ stream }) => stream);

/**
 * Removes files whose owner has gone, alone or with its workspace or organization. The log knows who had any, and no
 * process that is killed between an event and its files leaves them behind: the batch comes again, and what is removed
 * already stays so.
 */
export const fileSweeper = <E extends Message>({ name, table, on, remove }: Sweep<E>): Follower => {
  const rows = sql.raw(table);
  const turns = on as Readonly<Record<string, ((data: unknown, event: Recorded) => Turn) | undefined>>;

  const turnsIn = (events: readonly Recorded[]): { readonly born: Kept[]; readonly gone: string[] } => {
    const born: Kept[] = [];
    const gone: string[] = [];
    for (const event of events) {
      const turn = turns[event.type]?.(event.data, event);
      if (!turn) continue;
      if ('gone' in turn) gone.push(turn.gone);
      else born.push({ id: turn.born, workspace: turn.workspace, organization: event.organization ?? '' });
    }
    return { born, gone };
  };

  return {
    name,
    batch: 500,
    only: [...Object.keys(on), WORKSPACE_DELETED, ORGANIZATION_DELETED],
    tables: [],
    follow: async (events, session) => {
      const { born, gone } = turnsIn(events);
      const workspaces = streamsOf(events, WORKSPACE_DELETED);
      const organizations = streamsOf(events, ORGANIZATION_DELETED);
      const deleted = new Set([...workspaces, ...organizations]);
      const orphans =
        deleted.size === 0
          ? []
          : await session.run<{ id: string }>(sql`
              select id from ${rows}
               where workspace = any (${workspaces}::text[]) or organization = any (${organizations}::text[])`);
      const stillborn = born.filter((kept) => deleted.has(kept.workspace) || deleted.has(kept.organization));
      const swept = [...new Set([...gone, ...[...orphans, ...stillborn].map(({ id }) => id)])];
      for (const id of swept) await remove(id);
      return [...(born.length > 0 ? [keep(rows, born)] : []), ...(swept.length > 0 ? [forget(rows, swept)] : [])];
    },
  };
};

const keep = (rows: Sql, born: readonly Kept[]): Sql => sql`
  insert into ${rows} (id, workspace, organization)
  select id, workspace, organization
    from jsonb_to_recordset(${sql.json(born)}::jsonb) as list (id text, workspace text, organization text)
  on conflict (id) do nothing`;

const forget = (rows: Sql, ids: readonly string[]): Sql => sql`delete from ${rows} where id = any (${ids}::text[])`;
