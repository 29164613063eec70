import { sql } from '#platform/kernel';
import type { ImportedEvent } from '#storage/event-store';
import { listAccounts } from '#identity/people';
import { forEachString } from '#storage/personal-data';
import type { DatabaseSession } from '#platform/postgres';
import type { ExportedPeople } from '../format/organization-export.manifest.js';

/** Collects the ids of the people that events name. */
export class PeopleCollector {
  private readonly ids = new Set<string>();

  add(events: readonly ImportedEvent[]): void {
    const collect = (text: string): void => {
      if (text.startsWith('user-')) this.ids.add(text);
    };
    for (const { context, data } of events) {
      // Other services report people with ids of their own.
      if (context.accessor.type === 'users') this.ids.add(context.accessor.id);
      forEachString([context.linkOf, context.impersonator, data], collect);
    }
  }

  listIds(): ReadonlySet<string> {
    return this.ids;
  }

  async describe(session: DatabaseSession): Promise<ExportedPeople> {
    const ids = [...this.ids];
    const forgotten = await session.run<{ person: string }>(sql`
      select person from event_store.person_keys where person = any (${ids}::text[]) and key is null order by person`);
    return { accounts: await listAccounts(session, ids), forgotten: forgotten.map(({ person }) => person) };
  }
}
