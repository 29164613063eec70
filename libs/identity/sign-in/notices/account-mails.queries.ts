import { sql, type Sql } from '#platform/kernel';

/** Older notices are not mailed: for example, those from a time without a mail server. */
const MAILED_MS = 24 * 60 * 60_000;
/** A person gets at most one mail in this time. The mail contains all notices since the last one. */
const MAIL_PAUSE_MS = 5 * 60_000;
const MAILS_PER_STEP = 100;
const KEPT_MS = 90 * 24 * 60 * 60_000;
const ROWS_PER_STEP = 1_000;

/** A mail that this process sends now. */
export type DueAccountMail = {
  readonly id: string;
  readonly user: string;
  readonly attempts: number;
  /** The present address; null if the person has none, is suspended or is forgotten. */
  readonly email: string | null;
  /** The number of notices that it contains. */
  readonly total: number;
};

/**
 * Creates a mail for each person with notices, unless the last mail is too recent or still pending. The id derives from
 * the first notice.
 */
export const createMails = (now: Date): Sql => sql`
  with due as (
    select n.user_id, min(n.id) as first from sign_in.account_notices n
     where n.mail is null and n.created_at > ${new Date(now.getTime() - MAILED_MS)}
       and not exists (select 1 from sign_in.account_mails m
                        where m.user_id = n.user_id
                          and (m.status = 'pending' or m.created_at > ${new Date(now.getTime() - MAIL_PAUSE_MS)}))
     group by n.user_id order by first limit ${MAILS_PER_STEP}),
  mails as (
    insert into sign_in.account_mails (id, user_id, status, created_at, next_attempt_at)
    select 'am-' || first, user_id, 'pending', ${now}, ${now} from due
    returning id, user_id)
  update sign_in.account_notices n set mail = mails.id
    from mails
   where n.user_id = mails.user_id and n.mail is null and n.created_at > ${new Date(now.getTime() - MAILED_MS)}`;

/** Takes due mails. `retryAt`: when a mail is due again if this process ends before it has stored a result. */
export const claimDueMails = (now: Date, retryAt: Date, most: number): Sql => sql`
  with claimed as (
    update sign_in.account_mails m set attempts = m.attempts + 1, next_attempt_at = ${retryAt}
      from (select id from sign_in.account_mails where status = 'pending' and next_attempt_at <= ${now}
             order by next_attempt_at limit ${most} for update skip locked) due
     where m.id = due.id
    returning m.id, m.user_id, m.attempts)
  select m.id, m.user_id as "user", m.attempts,
         (select u.email from users u where u.id = m.user_id and not u.suspended) as email,
         (select count(*) from sign_in.account_notices n where n.mail = m.id) as total
    from claimed m`;

export type MailResult = {
  readonly status: 'pending' | 'sent' | 'skipped' | 'failed';
  /** Null unless the status is pending. */
  readonly nextAttemptAt: Date | null;
};

export const storeMailResult = (id: string, { status, nextAttemptAt }: MailResult): Sql => sql`
  update sign_in.account_mails set status = ${status}, next_attempt_at = ${nextAttemptAt}
   where id = ${id} and status = 'pending'`;

/** Deletes a number of old notices and mails. Each step is a short transaction, because followers wait for open ones. */
export const deleteOldNotices = (now: Date): readonly Sql[] => {
  const bound = new Date(now.getTime() - KEPT_MS);
  return [
    sql`delete from sign_in.account_notices
         where id in (select id from sign_in.account_notices where created_at < ${bound} limit ${ROWS_PER_STEP})`,
    sql`delete from sign_in.account_mails
         where id in (select id from sign_in.account_mails where created_at < ${bound} limit ${ROWS_PER_STEP})`,
  ];
};
