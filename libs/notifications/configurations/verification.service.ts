import { tooManyRequests, unprocessable } from '#kernel';
import { createVerificationNotice } from '../deliveries/notices.js';
import type { DeliveryResponse, NotificationSender, SentNotification } from '../deliveries/notification.sender.js';

/** Tests of one organization that wait for their destinations at the same time, in one process. */
const MAX_WAITING = 4;

const RETRY_AFTER_SECONDS = 5;

export type VerificationRequest = Pick<SentNotification, 'id' | 'type' | 'destination'> & {
  readonly configuration: string;
  readonly name: string;
  readonly organization: string;
};

/** Tests destinations while a request of the API waits. A slow destination occupies only a few requests. */
export class VerificationService {
  private readonly waiting = new Map<string, number>();

  constructor(private readonly sender: Pick<NotificationSender, 'send'>) {}

  /** Resolves to the response of the destination. Throws 429 if too many tests of the organization wait. */
  async send({ configuration, name, organization, ...request }: VerificationRequest): Promise<DeliveryResponse> {
    const others = this.waiting.get(organization) ?? 0;
    if (others >= MAX_WAITING) {
      throw tooManyRequests(
        `${MAX_WAITING} tests of notification configurations of this organization wait for their destinations. Try again later`,
        RETRY_AFTER_SECONDS,
      );
    }
    this.waiting.set(organization, others + 1);
    try {
      return await this.sender.send({ ...request, notice: createVerificationNotice(configuration, name) });
    } finally {
      const left = (this.waiting.get(organization) ?? 1) - 1;
      if (left > 0) this.waiting.set(organization, left);
      else this.waiting.delete(organization);
    }
  }

  /** Like `send`. Throws 422 that says what the destination answered, unless the status is 2xx. */
  async requireSuccess(request: VerificationRequest): Promise<DeliveryResponse> {
    const response = await this.send(request);
    if (response.successful) return response;
    throw unprocessable(`${describeFailure(response)}. With enabled: false nothing is sent`, 'url');
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
