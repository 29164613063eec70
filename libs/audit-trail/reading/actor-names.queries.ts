import { sql } from '#kernel';
import type { EventStore } from '#event-store';
import type { TrailQuery } from './trail-query.filter.js';

type ActorRow = { readonly name: string; readonly accessor: string };

/**
 * Ids of people who have acted under names that are asked for. These are sealed, and no index knows them: all are opened who
 * have ever acted in the organization, which are as many as people. Names in the clear are looked up with the trail itself.
 */
export const findActorsByName = async (
  { database, personalDataCipher }: EventStore,
  { organization, filter: { actor: names } }: Pick<TrailQuery, 'organization' | 'filter'>,
): Promise<readonly string[]> => {
  if (names.length === 0) return [];
  const people = await database.slowRows<ActorRow>(
    { id: organization },
    sql.unkept(sql`
      select name, accessor from audit_trail_actors where organization = ${organization} and name like '~sealed:%'`),
  );
  const opened = await personalDataCipher.openIn(people);
  return opened.filter(({ name }) => names.includes(name)).map(({ accessor }) => accessor);
};
