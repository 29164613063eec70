import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { findUserByLogin } from '#identity/people';

/** A person who signs in, with what the module stores about them. */
type SignInAccount = {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly passwordHash: string | null;
  readonly hasTotp: boolean;
};

type StoredMethods = Pick<SignInAccount, 'passwordHash' | 'hasTotp'>;

/** `foldedLogin`: the typed login in lower case. */
type SignInLookup = { readonly account: SignInAccount | null; readonly foldedLogin: string };

/** Returns the account with this user name or address. Runs the same statements if there is none. */
export const findSignInAccount = async (database: Database, login: string): Promise<SignInLookup> => {
  const user = await findUserByLogin(database, login);
  const id = user?.id ?? '';
  // Postgres also folds the login to find the account. JavaScript folds some letters differently.
  const { foldedLogin, ...methods } = (await database.row<StoredMethods & { foldedLogin: string }>(sql`
    select (select hash from sign_in.passwords where user_id = ${id}) as "passwordHash",
           exists (select 1 from sign_in.totp_secrets where user_id = ${id}) as "hasTotp",
           lower(${login}) as "foldedLogin"`)) as StoredMethods & { foldedLogin: string };
  return { account: user ? { ...user, ...methods } : null, foldedLogin };
};

export const requiresSecondFactor = async (database: Database, user: string): Promise<boolean> =>
  (await database.row(sql`select 1 from sign_in.totp_secrets where user_id = ${user}`)) !== undefined;

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

/** Returns whether the person has one-time codes or a passkey. */
export const hasSecondFactor = async (database: Database, user: string): Promise<boolean> =>
  (await database.row(sql`
    select 1 where exists (select 1 from sign_in.totp_secrets where user_id = ${user})
                or exists (select 1 from sign_in.passkeys where user_id = ${user})`)) !== undefined;
