import { createHmac } from 'node:crypto';
import { createOutboundFetch, OutboundError, PrivateHosts, type OutboundFetch } from '#platform/outbound';
import type { TaskRequest } from './task-request.js';

/** The answer of a service; `failure` says why there is none. */
type TaskAnswer = { readonly status: number } | { readonly failure: string };

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16_384;
const SIGNATURE_HEADER = 'x-tfc-task-signature';

/** Returns the HMAC of the body with the key, in hexadecimal digits; empty without a key, as the vendor sends it. */
const sign = (body: string, key: string | null): string =>
  key === null ? '' : createHmac('sha512', key).update(body).digest('hex');

/** Sends requests to the services of run tasks: without redirects, to permitted addresses only. */
export class TaskSender {
  private readonly fetch: OutboundFetch;

  constructor(outboundPrivateHosts: readonly string[]) {
    this.fetch = createOutboundFetch({
      privateHosts: new PrivateHosts(outboundPrivateHosts),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      cutBodies: true,
    });
  }

  /** Resolves to the status, or to the reason why there is none. Rejects only if the caller aborts. */
  async send(
    { url, key }: { readonly url: string; readonly key: string | null },
    request: TaskRequest,
    signal: AbortSignal | null = null,
  ): Promise<TaskAnswer> {
    const body = JSON.stringify(request);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Cadastre',
      [SIGNATURE_HEADER]: sign(body, key),
    };
    try {
      const { status } = await this.fetch(url, { method: 'POST', headers, body, signal });
      return { status };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof OutboundError)) throw error;
      return { failure: error.message };
    }
  }
}

/** Describes an answer that is no success; null for a success. The text contains no part of the URL except the host. */
export const describeRefusedRequest = (answer: TaskAnswer): string | null => {
  if ('failure' in answer) return answer.failure;
  return answer.status === 200 ? null : `the service answered with status ${answer.status}, not with 200`;
};
