import type { CustomFetch } from 'openid-client';
import { createOutboundFetch, OutboundError, type OutboundFetch } from '#platform/outbound';
import { ProviderFault } from './provider-fault.js';

/** Milliseconds for everything that one page or one request of the API asks of a provider. */
export const PROVIDER_TIMEOUT_MS = 5_000;
/** The largest documents are discovery documents, and tokens with hundreds of groups. */
const MAX_BYTES = 262_144;

const isAway = (status: number): boolean => status === 429 || status >= 500;

/**
 * Returns a `fetch` for providers. Administrators of the site choose them, so private addresses are reached too. Throws
 * `ProviderFault` if the provider does not answer in time, or not at the moment.
 */
export const createProviderFetch = (timeoutMs: number): OutboundFetch => {
  const outboundFetch = createOutboundFetch({ privateHosts: null, timeoutMs, maxBytes: MAX_BYTES });
  return async (url, request) => {
    const response = await outboundFetch(url, request).catch((error: unknown) => {
      throw error instanceof OutboundError ? new ProviderFault('unreachable', error.message) : error;
    });
    const { host } = new URL(url);
    if (isAway(response.status)) throw new ProviderFault('unreachable', `${host} answered with ${response.status}`);
    return response;
  };
};

/** Adapts a `fetch` for `openid-client`. Requests also end at the deadline. */
export const toCustomFetch =
  (providerFetch: OutboundFetch, deadline: AbortSignal): CustomFetch =>
  (url, { method, headers, body, signal }) =>
    providerFetch(url, {
      method,
      headers,
      // The library sends forms only.
      body: (body as URLSearchParams | null | undefined) ?? null,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
