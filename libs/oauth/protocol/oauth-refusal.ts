import { Refusal } from '#kernel';

/** Error codes of RFC 6749 §5.2, RFC 7009 §2.2.1, and `access_denied` of RFC 8628 §3.5. */
export type OauthError =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_token_type';

/** A refusal with an error code of OAuth. Its status is 400. */
export class OauthRefusal extends Refusal {
  constructor(
    readonly error: OauthError,
    description: string,
  ) {
    super('bad-request', [{ detail: description }]);
  }
}

const findErrorCode = (refused: Refusal): OauthError => {
  if (refused instanceof OauthRefusal) return refused.error;
  return refused.kind === 'too-many' || refused.kind === 'unavailable' ? 'temporarily_unavailable' : 'invalid_request';
};

/** Returns the text with the characters that `error_description` can have (RFC 6749 §5.2): no quotes, no backslash. */
export const toErrorDescription = (text: string): string =>
  text.replaceAll('"', "'").replaceAll(/[^\x20-\x5b\x5d-\x7e]/g, '?');

/** Returns a refusal as an error of OAuth. */
export const renderOauthRefusal = (refused: Refusal): object => ({
  error: findErrorCode(refused),
  error_description: toErrorDescription(refused.message),
});
