/**
 * Why a provider did not prove who a person is. `unreachable`: no usable answer in time. `refused`: the provider answered
 * with an error. `invalid`: an answer does not follow the protocol, or a check of it failed.
 */
export type ProviderFaultKind = 'unreachable' | 'refused' | 'invalid';

/** Its message is for administrators and logs. It contains no secret, no token and no claim. */
export class ProviderFault extends Error {
  constructor(
    readonly kind: ProviderFaultKind,
    message: string,
    /** Whether the provider does not state when the person authenticated, so that it can confirm nobody. */
    readonly lacksAuthTime = false,
  ) {
    super(message);
  }
}

const SAFE_CODE = /^[\w.-]{1,64}$/;

/** Returns an error code that a provider has sent. Other texts could be long, or contain a secret. */
const describeCode = (code: unknown): string =>
  typeof code === 'string' && SAFE_CODE.test(code) ? code : 'unknown_error';

type WithCauses = {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly error?: unknown;
  readonly cause?: unknown;
};

/**
 * Returns the fault behind an error of `openid-client` and `jose`. It drops the error itself, because errors of these
 * libraries contain tokens and claims.
 */
export const toProviderFault = (error: unknown): ProviderFault => {
  let code: string | undefined;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFault) return cause;
    const { name, error: sent, code: own } = cause as WithCauses;
    if (name === 'AuthorizationResponseError' || name === 'ResponseBodyError') {
      return new ProviderFault('refused', describeCode(sent));
    }
    code ??= typeof own === 'string' ? own : undefined;
  }
  return new ProviderFault('invalid', describeCode(code));
};
