import { createHash } from 'node:crypto';
import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';

export type PasskeyRow = {
  readonly id: string;
  readonly user: string;
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: Timestamp;
  readonly lastUsedAt: Timestamp | null;
};

const PASSKEY = sql.raw(`id, user_id as "user", credential_id as "credentialId", public_key as "publicKey",
  counter, transports, name, created_at as "createdAt", last_used_at as "lastUsedAt"`);

export const listPasskeys = (database: Database, user: string): Promise<PasskeyRow[]> =>
  database.rows<PasskeyRow>(
    sql`select ${PASSKEY} from sign_in.passkeys where user_id = ${user} order by created_at, id`,
  );

export const findPasskey = (database: Database, credentialId: string): Promise<PasskeyRow | undefined> =>
  database.row<PasskeyRow>(sql`select ${PASSKEY} from sign_in.passkeys where credential_id = ${credentialId}`);

export type NewPasskey = Pick<
  PasskeyRow,
  'id' | 'user' | 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name'
>;

export const insertPasskey = (passkey: NewPasskey, now: Date): Sql => sql`
  insert into sign_in.passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at)
  values (${passkey.id}, ${passkey.user}, ${passkey.credentialId}, ${passkey.publicKey}, ${passkey.counter},
          ${passkey.transports}::text[], ${passkey.name}, ${now})`;

export const renamePasskey = (id: string, user: string, name: string): Sql =>
  sql`update sign_in.passkeys set name = ${name} where id = ${id} and user_id = ${user}`;

export const deletePasskey = (id: string, user: string): Sql =>
  sql`delete from sign_in.passkeys where id = ${id} and user_id = ${user}`;

/** Deletes all passkeys of a person. */
export const deletePasskeys = (user: string): Sql => sql`delete from sign_in.passkeys where user_id = ${user}`;

/** Records the use of a passkey. Its counter shows copies of authenticators that count. */
export const recordPasskeyUse = (id: string, counter: number, now: Date): Sql =>
  sql`update sign_in.passkeys set counter = ${counter}, last_used_at = ${now} where id = ${id}`;

const hashChallenge = (challenge: string): Buffer => createHash('sha256').update(challenge).digest();

/** Returns whether this is the first answer to the challenge. Later ones are refused until the challenge expires. */
export const useChallenge = async (
  database: Database,
  challenge: string,
  { now, expiredAt }: { readonly now: Date; readonly expiredAt: Date },
): Promise<boolean> => {
  await database.rows(sql`delete from sign_in.answered_challenges where expired_at <= ${now}`);
  const hash = hashChallenge(challenge);
  const first = await database.row(sql`
    insert into sign_in.answered_challenges (hash, expired_at) values (${hash}, ${expiredAt})
    on conflict do nothing returning 1`);
  return first !== undefined;
};

/** Returns whether an answer to the challenge was stored with `useChallenge`, and has not expired. */
export const isChallengeUsed = async (database: Database, challenge: string, now: Date): Promise<boolean> => {
  const hash = hashChallenge(challenge);
  return (
    (await database.row(
      sql`select 1 from sign_in.answered_challenges where hash = ${hash} and expired_at > ${now}`,
    )) !== undefined
  );
};
