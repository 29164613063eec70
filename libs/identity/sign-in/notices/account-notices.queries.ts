import { sql } from '#platform/kernel';
import { EVENT_CONTEXT, type EventStore } from '#storage/event-store';
import { toMethodsStream } from '../methods/sign-in-methods.js';
import { ACCESS_CHANGES, METHOD_CHANGES, type AccountChangeRow } from './account-changes.js';

const MOST_CHANGES = 10;

const CHANGE = sql`e.type, e.time, (${EVENT_CONTEXT}) #>> '{request,address}' as address`;

/** Returns the last changes of an account, newest first. Tokens and sign-ins follow the log by some milliseconds. */
export const listAccountChanges = async (
  { database, personalDataCipher }: EventStore,
  user: string,
): Promise<readonly AccountChangeRow[]> => {
  const rows = await database.rows<AccountChangeRow>(sql`
    select changes.type, changes.time, changes.address
      from ((select ${CHANGE}, e.position, e.version from event_store.events e
              where e.stream = ${toMethodsStream(user)} and e.type = any (${[...METHOD_CHANGES]}::text[])
              order by e.version desc limit ${MOST_CHANGES})
            union all
            (select ${CHANGE}, e.position, e.version
               from (select stream, version from sign_in.account_notices
                      where user_id = ${user} and type = any (${[...ACCESS_CHANGES]}::text[])
                      order by created_at desc limit ${MOST_CHANGES}) n
               join event_store.events e on e.stream = n.stream and e.version = n.version)) changes
     order by changes.time desc, changes.position desc limit ${MOST_CHANGES}`);
  return personalDataCipher.openIn(rows);
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
