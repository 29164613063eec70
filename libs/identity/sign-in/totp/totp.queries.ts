import { createHash } from 'node:crypto';
import { sql, type Sql } from '#platform/kernel';
import type { Envelope } from '#platform/encryption';
import type { Database } from '#platform/postgres';
import { findTotpStep } from './totp.codes.js';

/** Part of the key derivation: with another value, no existing secret can be decrypted. */
export const TOTP_PURPOSE = 'sign-in totp';

/** `step`: of the code that proved that the app of the person has the secret. It counts as used. */
export const storeTotpSecret = (
  envelope: Envelope,
  user: string,
  { secret, step }: { readonly secret: string; readonly step: number },
): Sql => sql`
  insert into sign_in.totp_secrets (user_id, encrypted, last_step)
  values (${user}, ${envelope.encrypt(user, Buffer.from(secret))}, ${step})`;

/** Returns whether the code is right, and uses it up: neither it nor an older one is right again. */
export const useTotpCode = async (
  database: Database,
  envelope: Envelope,
  user: string,
  { code, now }: { readonly code: string; readonly now: Date },
): Promise<boolean> => {
  const row = await database.row<{ encrypted: Buffer }>(
    sql`select encrypted from sign_in.totp_secrets where user_id = ${user}`,
  );
  if (!row) return false;
  const step = findTotpStep(envelope.open(user, row.encrypted).toString(), code, now);
  if (step === null) return false;
  const used = await database.row(sql`
    update sign_in.totp_secrets set last_step = ${step} where user_id = ${user} and last_step < ${step} returning 1`);
  return used !== undefined;
};

export const deleteTotp = (user: string): readonly Sql[] => [
  sql`delete from sign_in.totp_secrets where user_id = ${user}`,
  sql`delete from sign_in.recovery_codes where user_id = ${user}`,
];

/** Recovery codes have 80 random bits, so a fast hash suffices. */
const hashRecoveryCode = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z2-7]/g, ''))
    .digest();

export const replaceRecoveryCodes = (user: string, codes: readonly string[]): readonly Sql[] => [
  sql`delete from sign_in.recovery_codes where user_id = ${user}`,
  ...codes.map(
    (code) => sql`insert into sign_in.recovery_codes (user_id, hash) values (${user}, ${hashRecoveryCode(code)})`,
  ),
];

/** Returns whether the code is right, and uses it up. */
export const useRecoveryCode = async (database: Database, user: string, code: string): Promise<boolean> => {
  const used = await database.row(sql`
    delete from sign_in.recovery_codes where user_id = ${user} and hash = ${hashRecoveryCode(code)} returning 1`);
  return used !== undefined;
};
