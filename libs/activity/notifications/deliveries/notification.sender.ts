import { createHmac } from 'node:crypto';
import type { Clock, Timestamp } from '#platform/kernel';
import { createOutboundFetch, OutboundError, PrivateHosts, type OutboundFetch } from '#platform/outbound';
import type { Destination, UrlDestinationType } from '../configurations/destinations.js';
import type { Notice } from './notices.js';
import { renderPayload } from './payloads.js';

/** What a destination or a mail server answered. Without a response, the code is empty and the body says why. */
export type DeliveryResponse = {
  /** Empty for e-mail. */
  readonly url: string;
  readonly body: string;
  /** The status of HTTP or SMTP, such as `200`. */
  readonly code: string;
  /** By lowercase name. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly sentAt: Timestamp;
  /** Whether the destination accepted the notification: a status of 2xx. */
  readonly successful: boolean;
};

type SentNotification = {
  /** The id of the delivery, the same in each attempt. */
  readonly id: string;
  readonly type: UrlDestinationType;
  readonly destination: Destination;
  readonly notice: Notice;
};

const SIGNATURE_HEADER = 'x-tfe-notification-signature';
export const DELIVERY_HEADER = 'x-cadastre-delivery';

const TIMEOUT_MS = 10_000;
/** Bytes that are read from a response. */
const MAX_RESPONSE_BYTES = 16_384;
const MAX_BODY_CHARACTERS = 1_000;
const MAX_HEADERS = 30;
const MAX_HEADER_CHARACTERS = 500;

/** Returns the fetch for destinations: without redirects, to permitted addresses only. */
export const createDestinationFetch = (outboundPrivateHosts: readonly string[]): OutboundFetch =>
  createOutboundFetch({
    privateHosts: new PrivateHosts(outboundPrivateHosts),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_RESPONSE_BYTES,
    cutBodies: true,
  });

/** Returns the HMAC of the body with the token, in hexadecimal digits; empty without a token, as the vendor sends it. */
const sign = (body: string, token: string | null): string =>
  token === null ? '' : createHmac('sha512', token).update(body).digest('hex');

/** Cookies are credentials, so they are left out. */
const listHeaders = (headers: Headers): DeliveryResponse['headers'] =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => name !== 'set-cookie')
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name, [value.slice(0, MAX_HEADER_CHARACTERS)]]),
  );

/** Sends one request to a destination. */
export class NotificationSender {
  constructor(
    private readonly fetch: OutboundFetch,
    private readonly clock: Clock,
  ) {}

  /** Resolves to the response, also if there is none. Rejects only if the caller aborts. */
  async send({ id, type, destination, notice }: SentNotification, signal?: AbortSignal): Promise<DeliveryResponse> {
    const { url, token } = destination;
    const sentAt = this.clock.now().toISOString();
    const body = renderPayload(type, notice);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Cadastre',
      [DELIVERY_HEADER]: id,
      ...(type === 'generic' && { [SIGNATURE_HEADER]: sign(body, token) }),
    };
    try {
      const response = await this.fetch(url, { method: 'POST', headers, body, signal: signal ?? null });
      const text = (await response.text()).slice(0, MAX_BODY_CHARACTERS);
      const { status, ok } = response;
      return { url, body: text, code: String(status), headers: listHeaders(response.headers), sentAt, successful: ok };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof OutboundError)) throw error;
      return { url, body: error.message, code: '', headers: {}, sentAt, successful: false };
    }
  }
}
