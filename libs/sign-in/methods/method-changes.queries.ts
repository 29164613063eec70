import { sql, type Timestamp } from '#kernel';
import { EVENT_CONTEXT, type EventStore } from '#event-store';
import { toMethodsStream, type SignInMethodsEvent } from './sign-in-methods.js';

/** Events that say how the person can sign in from then on. Failures and new names of passkeys are none. */
export const METHOD_CHANGES = [
  'PasswordSet',
  'PasswordRemoved',
  'TotpEnabled',
  'TotpDisabled',
  'RecoveryCodesCreated',
  'RecoveryCodeUsed',
  'PasskeyAdded',
  'PasskeyRemoved',
  'IdentityLinked',
  'IdentityUnlinked',
  'SignInLinkCreated',
  'SignInMethodsReset',
] as const satisfies readonly SignInMethodsEvent['type'][];

/** A change of the ways in which a person signs in. `address`: of the browser; null for commands of operators. */
export type MethodChangeRow = {
  readonly type: (typeof METHOD_CHANGES)[number];
  readonly time: Timestamp;
  readonly address: string | null;
};

const MOST_CHANGES = 10;

/** Returns the last changes of the ways in which a person signs in, newest first. */
export const listMethodChanges = async (
  { database, personalDataCipher }: EventStore,
  user: string,
): Promise<readonly MethodChangeRow[]> => {
  const rows = await database.rows<MethodChangeRow>(sql`
    select e.type, e.time, (${EVENT_CONTEXT}) #>> '{request,address}' as address from event_store.events e
     where e.stream = ${toMethodsStream(user)} and e.type = any (${[...METHOD_CHANGES]}::text[])
     order by e.version desc limit ${MOST_CHANGES}`);
  return personalDataCipher.openIn(rows);
};
