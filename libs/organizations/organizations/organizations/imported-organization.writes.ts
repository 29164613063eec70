import { decide, fold, foldInSql, foldName, sql, type Message, type RecordedEvent, type Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { organization, type OrganizationEvent, type OrganizationOrigin } from './organization.js';

/** Returns the events that complete an import, after the events that another site recorded for the organization. */
export const completeImport = (
  events: readonly Pick<RecordedEvent, 'type' | 'data'>[],
  origin: OrganizationOrigin,
): readonly Message[] => {
  const state = fold(organization, organization.initial, events as unknown as readonly OrganizationEvent[]);
  return decide(organization, { type: 'CompleteImport', data: origin }, state);
};

/** Returns the id of the organization that has this name, in any case, or this id. */
export const findSimilarOrganization = async (
  session: DatabaseSession,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<{ readonly id: string; readonly name: string } | null> => {
  const [similar] = await session.run<{ id: string; name: string }>(sql`
    select id, name from views.organizations where id = ${id} or ${foldInSql(sql.raw('name'))} = ${foldName(name)} order by id = ${id} desc limit 1`);
  return similar ?? null;
};

/** Keeps the name unique. Fails if another organization has it. */
export const reserveOrganizationName = ({ id, name }: { readonly id: string; readonly name: string }): Sql => sql`
  insert into organizations.reserved_names (folded, organization) values (lower(${name}), ${id})`;
