import type { Clock } from '#platform/kernel';
import { toMessageDomain, type Mailer, type MailOutcome } from '#platform/outbound';
import type { MailRecipient } from '#identity/people';
import { MAX_MAIL_RECIPIENTS } from '../configurations/destinations.js';
import { renderMail } from './mail-messages.renderer.js';
import type { Notice } from './notices.js';
import { DELIVERY_HEADER, type DeliveryResponse } from './notification.sender.js';

/** The people who need no other attempt, as ids: the mail server gave a final answer for them. */
export type MailProgress = { readonly accepted: readonly string[]; readonly refused: readonly string[] };

type SentMail = {
  /** The id of the delivery, the same in each attempt. */
  readonly id: string;
  readonly notice: Notice;
  /** All present recipients. */
  readonly recipients: readonly MailRecipient[];
  /** The result of earlier attempts; null before the first one. */
  readonly progress: MailProgress | null;
};

type MailAttempt = {
  readonly response: DeliveryResponse;
  readonly progress: MailProgress;
  /** Whether another attempt has the same result. */
  readonly isFinal: boolean;
  /** Whether there was nobody to send a message to. */
  readonly isSkipped: boolean;
};

const NO_MAIL_SERVER = 'The server has no mail server: CADASTRE_SMTP_URL is not set';
const NO_RECIPIENTS = 'Nobody could get the notification: no recipient is an active member with an e-mail address';
const TOO_MANY = `More than ${MAX_MAIL_RECIPIENTS} people would get the notification. Choose users`;

/** Refused recipients that a response lists. */
const MAX_LISTED = 10;

const NO_PROGRESS: MailProgress = { accepted: [], refused: [] };

/** An outcome with people instead of addresses. */
type PeopleOutcome = {
  readonly accepted: readonly string[];
  readonly refused: readonly {
    readonly id: string;
    readonly code: string;
    readonly text: string;
    readonly isPermanent: boolean;
  }[];
};

const toPeople = ({ accepted, refused }: MailOutcome, recipients: readonly MailRecipient[]): PeopleOutcome => {
  const ids = new Map(recipients.map(({ id, email }) => [email, id]));
  return {
    accepted: accepted.flatMap((address) => ids.get(address) ?? []),
    refused: refused.flatMap(({ address, ...answer }) => {
      const id = ids.get(address);
      return id === undefined ? [] : [{ id, ...answer }];
    }),
  };
};

const describeOutcome = ({ accepted, refused }: PeopleOutcome, total: number): string => {
  const listed = refused.slice(0, MAX_LISTED).map(({ id, code, text }) => `${id} (${[code, text].join(' ').trim()})`);
  const more = refused.length > MAX_LISTED ? ` and ${refused.length - MAX_LISTED} others` : '';
  const refusals = refused.length === 0 ? '' : `. Refused: ${listed.join(', ')}${more}`;
  return `The mail server accepted the message for ${accepted.length} of ${total} recipients${refusals}`;
};

/** Sends one notification to the people of a configuration. No text of a response contains an address. */
export class MailNotificationSender {
  private readonly domain: string;

  /** `mailer` is null without a mail server. `publicUrl` names the site in ids of messages. */
  constructor(
    private readonly mailer: Mailer | null,
    private readonly clock: Clock,
    publicUrl: string,
  ) {
    this.domain = toMessageDomain(publicUrl);
  }

  canSend(): boolean {
    return this.mailer !== null;
  }

  /** Resolves to the result for all recipients, also if the mail server is away. Rejects only if the caller aborts. */
  async send(mail: SentMail, signal?: AbortSignal): Promise<MailAttempt> {
    const progress = mail.progress ?? NO_PROGRESS;
    if (!this.mailer) return this.refuse(NO_MAIL_SERVER, progress);
    if (mail.recipients.length > MAX_MAIL_RECIPIENTS) return this.refuse(TOO_MANY, progress, { isFinal: true });
    const done = new Set([...progress.accepted, ...progress.refused]);
    const left = mail.recipients.filter(({ id }) => !done.has(id));
    if (left.length === 0) return this.endWithoutMessage(progress);
    const sentAt = this.clock.now();
    const outcome = await this.mailer(this.compose(mail, left, sentAt), signal);
    return this.toAttempt(outcome, left, progress, sentAt);
  }

  private compose({ id, notice }: SentMail, recipients: readonly MailRecipient[], date: Date) {
    return {
      ...renderMail(notice),
      messageId: `${id}@${this.domain}`,
      recipients: recipients.map(({ email }) => email),
      date,
      headers: {
        'Auto-Submitted': 'auto-generated',
        'List-Id': `<${notice.configuration}.${this.domain}>`,
        [DELIVERY_HEADER]: id,
      },
    };
  }

  private toAttempt(
    outcome: MailOutcome,
    left: readonly MailRecipient[],
    before: MailProgress,
    sentAt: Date,
  ): MailAttempt {
    const at = { url: '', headers: {}, sentAt: sentAt.toISOString() };
    if (outcome.failure) {
      const { code, text, isPermanent } = outcome.failure;
      const response = { ...at, code, body: text, successful: false };
      return { response, progress: before, isFinal: isPermanent, isSkipped: false };
    }
    const people = toPeople(outcome, left);
    const final = people.refused.filter(({ isPermanent }) => isPermanent);
    const progress = {
      accepted: [...before.accepted, ...people.accepted],
      refused: [...before.refused, ...final.map(({ id }) => id)],
    };
    const isFinal = people.accepted.length + final.length === left.length;
    const successful = isFinal && progress.accepted.length > 0;
    const code = successful ? '250' : (people.refused.find(({ isPermanent }) => isFinal || !isPermanent)?.code ?? '');
    const response = { ...at, code, body: describeOutcome(people, left.length), successful };
    return { response, progress, isFinal, isSkipped: false };
  }

  /** All recipients have left, or those that are left have had the message. */
  private endWithoutMessage(progress: MailProgress): MailAttempt {
    if (progress.accepted.length === 0) return this.refuse(NO_RECIPIENTS, progress, { isFinal: true, isSkipped: true });
    const attempt = this.refuse('All recipients that are left have the message', progress, { isFinal: true });
    return { ...attempt, response: { ...attempt.response, successful: true } };
  }

  private refuse(
    body: string,
    progress: MailProgress,
    { isFinal = false, isSkipped = false }: { isFinal?: boolean; isSkipped?: boolean } = {},
  ): MailAttempt {
    const sentAt = this.clock.now().toISOString();
    return {
      response: { url: '', body, code: '', headers: {}, sentAt, successful: false },
      progress,
      isFinal,
      isSkipped,
    };
  }
}
