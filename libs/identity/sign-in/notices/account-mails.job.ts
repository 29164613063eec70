import type { EventStore } from '#storage/event-store';
import type { Clock, Logger } from '#platform/kernel';
import { computeRetryPause, toMessageDomain, type Mailer, type MailOutcome } from '#platform/outbound';
import { castRows, type ScheduledJob } from '#platform/postgres';
import {
  claimDueMails,
  createMails,
  deleteOldNotices,
  storeMailResult,
  type DueAccountMail,
  type MailResult,
} from './account-mails.queries.js';
import { MAX_LISTED, renderAccountMail } from './account-mails.renderer.js';
import { listMailedChanges } from './account-notices.queries.js';

const EVERY_MS = 5_000;
const MAILS_AT_ONCE = 4;
/** Longer than the time limit of a message. A mail whose process was killed is sent again after this time. */
const LEASE_MS = 60_000;

type AccountMailsDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Null without a mail server: people see their notices on the account page only. */
  readonly mailer: Mailer | null;
  /** The address of the account page in mails. */
  readonly publicUrl: string;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
};

const SKIPPED: MailResult = { status: 'skipped', nextAttemptAt: null };

/** Sends mails about changes of accounts, and deletes old notices. A mail has the same id in each attempt. */
export const createAccountMailsJob = (dependencies: AccountMailsDependencies): ScheduledJob => ({
  name: 'account_mails',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const { store, clock, mailer } = dependencies;
    await store.database.transaction(deleteOldNotices(clock.now()));
    if (!mailer) return;
    await store.database.transaction([createMails(clock.now())]);
    while (!signal.aborted) {
      const now = clock.now();
      const claim = claimDueMails(now, new Date(now.getTime() + LEASE_MS), MAILS_AT_ONCE);
      const due = castRows<DueAccountMail>((await store.database.transaction([claim]))[0] ?? []);
      if (due.length === 0) return;
      await Promise.all(due.map((mail) => sendMail(dependencies, mailer, mail, signal)));
      done(due.length);
    }
  },
});

const sendMail = async (
  dependencies: AccountMailsDependencies,
  mailer: Mailer,
  { id, user, attempts, email, total }: DueAccountMail,
  signal: AbortSignal,
): Promise<void> => {
  const { store, clock, publicUrl } = dependencies;
  const storeResult = (result: MailResult) => store.database.transaction([storeMailResult(id, result)]);
  const changes = email === null ? [] : await listMailedChanges(store, id, MAX_LISTED);
  if (email === null || changes.length === 0) return void (await storeResult(SKIPPED));
  const outcome = await mailer(
    {
      ...renderAccountMail({ changes, total, publicUrl }),
      messageId: `${id}@${toMessageDomain(publicUrl)}`,
      recipients: [email],
      date: clock.now(),
      headers: { 'Auto-Submitted': 'auto-generated' },
    },
    signal,
  );
  const result = decideNext(dependencies, outcome, attempts);
  await storeResult(result);
  if (result.status === 'failed') {
    const code = outcome.failure?.code ?? outcome.refused[0]?.code ?? '';
    dependencies.logger.warn({ user, code }, 'Mail about an account not sent');
  }
};

const decideNext = (
  { clock, random }: AccountMailsDependencies,
  { accepted, refused, failure }: MailOutcome,
  attempts: number,
): MailResult => {
  if (accepted.length > 0) return { status: 'sent', nextAttemptAt: null };
  const isPermanent = failure?.isPermanent ?? refused[0]?.isPermanent ?? false;
  const pauseMs = isPermanent ? null : computeRetryPause(attempts, random());
  if (pauseMs === null) return { status: 'failed', nextAttemptAt: null };
  return { status: 'pending', nextAttemptAt: new Date(clock.now().getTime() + pauseMs) };
};
