import { sql } from '#kernel';
import type { Database } from '#postgres';
import { findUserByLogin } from '#people';

/** A person who signs in, with what the module stores about them. */
export type SignInAccount = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly passwordHash: string | null;
  readonly hasTotp: boolean;
};

type StoredMethods = Pick<SignInAccount, 'passwordHash' | 'hasTotp'>;

const loadStoredMethods = async (database: Database, user: string): Promise<StoredMethods> =>
  (await database.row<StoredMethods>(sql`
    select (select hash from sign_in.passwords where user_id = ${user}) as "passwordHash",
           exists (select 1 from sign_in.totp_secrets where user_id = ${user}) as "hasTotp"`)) as StoredMethods;

/** Returns the account with this user name or address. Runs the same statements if there is none. */
export const findSignInAccount = async (database: Database, login: string): Promise<SignInAccount | null> => {
  const user = await findUserByLogin(database, login);
  const methods = await loadStoredMethods(database, user?.id ?? '');
  return user ? { ...user, ...methods } : null;
};

export const requiresSecondFactor = async (database: Database, user: string): Promise<boolean> =>
  (await loadStoredMethods(database, user)).hasTotp;

/** Returns whether the password was changed after a time. */
export const hasNewerPassword = async (database: Database, user: string, since: Date): Promise<boolean> =>
  (await database.row(sql`select 1 from sign_in.passwords where user_id = ${user} and changed_at > ${since}`)) !==
  undefined;

export type MethodsOverview = {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly recoveryCodes: number;
};

export const loadMethodsOverview = async (database: Database, user: string): Promise<MethodsOverview> =>
  (await database.row<MethodsOverview>(sql`
    select exists (select 1 from sign_in.passwords where user_id = ${user}) as "hasPassword",
           exists (select 1 from sign_in.totp_secrets where user_id = ${user}) as "hasTotp",
           (select count(*)::integer from sign_in.recovery_codes where user_id = ${user}) as "recoveryCodes"`)) as MethodsOverview;
