import { Refusal, type RefusalKind } from '#platform/kernel';

/** Error codes of RFC 6749 §4.1.2.1 and §5.2, RFC 7009 §2.2.1, RFC 8693 §2.2.2, and `access_denied` of RFC 8628 §3.5. */
export type OauthError =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_token_type';

type OauthRefusalOptions = { readonly kind?: RefusalKind; readonly retryAfter?: number };

/** A refusal with an error code of OAuth. By default its status is 400. `retryAfter` in seconds. */
export class OauthRefusal extends Refusal {
  constructor(
    readonly error: OauthError,
    description: string,
    { kind = 'bad-request', retryAfter }: OauthRefusalOptions = {},
  ) {
    super(kind, [{ detail: description }], retryAfter);
  }
}

const findErrorCode = (refused: Refusal): OauthError => {
  if (refused instanceof OauthRefusal) return refused.error;
  return refused.kind === 'too-many' || refused.kind === 'unavailable' ? 'temporarily_unavailable' : 'invalid_request';
};

const MAX_DESCRIPTION = 500;

/** Returns the text with the characters that `error_description` can have (RFC 6749 §5.2): no quotes, no backslash. */
export const toErrorDescription = (text: string): string =>
  text
    .slice(0, MAX_DESCRIPTION)
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x5b\x5d-\x7e]/gu, '?');

export type OauthErrorDocument = { readonly error: OauthError; readonly error_description: string };

/** Returns a refusal as an error of OAuth. */
export const renderOauthRefusal = (refused: Refusal): OauthErrorDocument => ({
  error: findErrorCode(refused),
  error_description: toErrorDescription(refused.message),
});
