import { notFound, sql, type Sql } from '#platform/kernel';
import { requireCurrentAccess, requirePermission, type Actor } from '#api/access';
import { EVENT_CONTEXT, type EventStore } from '#storage/event-store';
import { toMethodsStream } from '../methods/sign-in-methods.js';
import { ACCESS_CHANGES, METHOD_CHANGES, type AccountChangeRow } from './account-changes.js';

const MOST_CHANGES = 10;

const CHANGE = sql`e.type, e.time, (${EVENT_CONTEXT}) #>> '{request,address}' as address`;

/** Selects the last changes of an account, newest first. Tokens and sign-ins follow the log by some milliseconds. */
const selectAccountChanges = (user: string): Sql => sql`
    select changes.id, changes.type, changes.time, changes.address
      from ((select e.id, ${CHANGE}, e.position, e.version from event_store.events e
              where e.stream = ${toMethodsStream(user)} and e.type = any (${[...METHOD_CHANGES]}::text[])
              order by e.version desc limit ${MOST_CHANGES})
            union all
            (select e.id, ${CHANGE}, e.position, e.version
               from (select stream, version from sign_in.account_notices
                      where user_id = ${user} and type = any (${[...ACCESS_CHANGES]}::text[])
                      order by created_at desc limit ${MOST_CHANGES}) n
               join event_store.events e on e.stream = n.stream and e.version = n.version)) changes
     order by changes.time desc, changes.position desc limit ${MOST_CHANGES}`;

export type ListedAccountChange = AccountChangeRow & { readonly id: string };

/** Returns the last changes of an account, newest first, for its own page. */
export const listAccountChanges = async (
  { database, personalDataCipher }: EventStore,
  user: string,
): Promise<readonly AccountChangeRow[]> =>
  personalDataCipher.openIn(await database.rows<ListedAccountChange>(selectAccountChanges(user)));

/** A user without changes has one row without members. */
type RequestedChange = ListedAccountChange | { readonly id: null };

const isChange = (row: RequestedChange): row is ListedAccountChange => row.id !== null;

/** Returns the last changes of an account, newest first. Throws `not-found` if the caller may not see them. */
export const listAccountChangesFor = async (
  { database, personalDataCipher }: EventStore,
  actor: Actor,
  user: string,
): Promise<readonly ListedAccountChange[]> => {
  // Checked first, because the answer must not show whether another person exists.
  requirePermission(actor, 'manage-sessions', { organization: null, user });
  const rows = await database.rows<RequestedChange>(sql`
    select changes.* from (select from users where id = ${user} and ${requireCurrentAccess(actor)}) owner
      left join lateral (${selectAccountChanges(user)}) changes on true`);
  if (rows.length === 0) throw notFound();
  return personalDataCipher.openIn(rows.filter(isChange));
};

/** Returns the last changes that a mail contains, newest first, at most `most`. */
export const listMailedChanges = async (
  { database, personalDataCipher }: EventStore,
  mail: string,
  most: number,
): Promise<readonly AccountChangeRow[]> => {
  const rows = await database.rows<AccountChangeRow>(sql`
    select ${CHANGE} from sign_in.account_notices n
      join event_store.events e on e.stream = n.stream and e.version = n.version
     where n.mail = ${mail} order by n.created_at desc, n.id desc limit ${most}`);
  return personalDataCipher.openIn(rows);
};
