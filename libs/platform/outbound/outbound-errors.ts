import { getErrorCode } from '#platform/kernel';

/** Why a request to another server got no usable response. */
export type OutboundFailure =
  'private-address' | 'timeout' | 'too-large' | 'redirect' | 'untrusted-certificate' | 'unreachable';

const DESCRIPTIONS: Readonly<Record<OutboundFailure, string>> = {
  'private-address': 'has a private address, which CADASTRE_OUTBOUND_PRIVATE_HOSTS does not permit',
  timeout: 'did not answer in time',
  'too-large': 'sent a response that is too large',
  redirect: 'redirected the request, which is not permitted here',
  'untrusted-certificate':
    'has a certificate that this server does not trust (NODE_EXTRA_CA_CERTS names further authorities)',
  unreachable: 'could not be reached',
};

/** A request to another server failed. The message names the host, and contains nothing that the host has sent. */
export class OutboundError extends Error {
  constructor(
    readonly host: string,
    readonly failure: OutboundFailure,
    cause?: unknown,
  ) {
    super(`${host} ${DESCRIPTIONS[failure]}`, { cause });
  }
}

const TIMEOUT_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const CERTIFICATE_CODE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

/** Returns the failure behind an error of `fetch` and of reading its response. */
export const toOutboundError = (host: string, error: unknown): OutboundError => {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof OutboundError) return cause;
    const code = getErrorCode(cause) ?? '';
    if (cause.name === 'TimeoutError' || TIMEOUT_CODES.has(code)) return new OutboundError(host, 'timeout', error);
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new OutboundError(host, 'too-large', error);
    if (cause.message === 'unexpected redirect') return new OutboundError(host, 'redirect', error);
    if (CERTIFICATE_CODE.test(code)) return new OutboundError(host, 'untrusted-certificate', error);
  }
  return new OutboundError(host, 'unreachable', error);
};
