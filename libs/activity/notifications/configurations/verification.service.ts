import { tooManyRequests, unprocessable, type Clock, type Timestamp } from '#platform/kernel';
import type { MailRecipient } from '#identity/people';
import type { MailNotificationSender } from '../deliveries/mail-notification.sender.js';
import { createVerificationNotice } from '../deliveries/notices.js';
import type { DeliveryResponse, NotificationSender } from '../deliveries/notification.sender.js';
import type { Destination, UrlDestinationType } from './destinations.js';

/** Tests of one organization that wait for their destinations at the same time, in one process. */
const MAX_WAITING = 4;

const RETRY_AFTER_SECONDS = 5;

/** The pause between two tests by e-mail of a configuration. Other people get these e-mails. */
const MAIL_PAUSE_SECONDS = 60;

type RequestedTest = {
  /** The id of the delivery. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly organization: string;
};

export type UrlVerification = RequestedTest & { readonly type: UrlDestinationType; readonly destination: Destination };

type MailVerification = RequestedTest & {
  readonly recipients: readonly MailRecipient[];
  /** The time of the last test; null before the first one. */
  readonly testedAt: Timestamp | null;
};

/** Tests destinations while a request of the API waits. A slow destination occupies only a few requests. */
export class VerificationService {
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly sender: Pick<NotificationSender, 'send'>,
    private readonly mailSender: Pick<MailNotificationSender, 'send' | 'canSend'>,
    private readonly clock: Clock,
  ) {}

  /** Resolves to the response of the destination. Throws 429 if too many tests of the organization wait. */
  send({ configuration, name, organization, ...request }: UrlVerification): Promise<DeliveryResponse> {
    const notice = createVerificationNotice(configuration, name);
    return this.limit(organization, () => this.sender.send({ ...request, notice }));
  }

  /** Like `send`. Throws 422 that says what the destination answered, unless the status is 2xx. */
  async requireSuccess(request: UrlVerification): Promise<DeliveryResponse> {
    const response = await this.send(request);
    if (response.successful) return response;
    throw unprocessable(`${describeFailure(response)}. A disabled configuration is saved without a test`, 'url');
  }

  /** Sends a test to all recipients. Throws 422 without a mail server, and 429 too soon after the last test. */
  async sendMail({ id, configuration, name, organization, recipients, testedAt }: MailVerification) {
    this.requireMailServer();
    const waitMs =
      testedAt === null ? 0 : Date.parse(testedAt) + MAIL_PAUSE_SECONDS * 1_000 - this.clock.now().getTime();
    if (waitMs > 0) {
      throw tooManyRequests(
        `E-mails of a notification configuration are tested every ${MAIL_PAUSE_SECONDS} seconds. Try again later`,
        Math.ceil(waitMs / 1_000),
      );
    }
    const notice = createVerificationNotice(configuration, name);
    const { response } = await this.limit(organization, () =>
      this.mailSender.send({ id, notice, recipients, progress: null }),
    );
    return response;
  }

  /** Throws 422 that names the missing settings, unless the server can send e-mails. */
  requireMailServer(): void {
    if (this.mailSender.canSend()) return;
    throw unprocessable(
      'Destination type email needs a mail server: the operator sets CADASTRE_SMTP_URL and CADASTRE_SMTP_FROM',
      'destination-type',
    );
  }

  private async limit<Result>(organization: string, send: () => Promise<Result>): Promise<Result> {
    const others = this.waiting.get(organization) ?? 0;
    if (others >= MAX_WAITING) {
      throw tooManyRequests(
        `${MAX_WAITING} tests of notification configurations of this organization wait for their destinations. Try again later`,
        RETRY_AFTER_SECONDS,
      );
    }
    this.waiting.set(organization, others + 1);
    try {
      return await send();
    } finally {
      const left = (this.waiting.get(organization) ?? 1) - 1;
      if (left > 0) this.waiting.set(organization, left);
      else this.waiting.delete(organization);
    }
  }
}

/** Describes a response that is no success. The text contains no part of the URL except the host. */
export const describeFailure = ({ code, body }: DeliveryResponse): string =>
  code === ''
    ? `Url could not be verified: ${body}`
    : `Url could not be verified: the destination answered with status ${code}${body.trim() === '' ? '' : `: ${quote(body)}`}`;

const QUOTED_CHARACTERS = 200;

const quote = (body: string): string =>
  JSON.stringify(body.length > QUOTED_CHARACTERS ? `${body.slice(0, QUOTED_CHARACTERS)}…` : body);
