import { sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { TrailQuery } from './trail-query.filter.js';

type ActorRow = { readonly name: string; readonly accessor: string };

/**
 * Returns the ids of people who have acted under one of the names. Names are encrypted, so no index can find them;
 * instead this decrypts the names of everyone who ever acted in the organization, one for each person. Unencrypted
 * names are looked up together with the audit trail.
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
