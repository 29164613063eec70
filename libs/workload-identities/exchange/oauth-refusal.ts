import { Refusal, type RefusalKind } from '#kernel';

/** Error codes of token endpoints (RFC 6749 §5.2, RFC 8693 §2.2.2), and the one for outages (RFC 6749 §4.1.2.1). */
export type OAuthErrorCode =
  'invalid_request' | 'invalid_scope' | 'invalid_target' | 'unsupported_grant_type' | 'temporarily_unavailable';

export type OAuthErrorDocument = { readonly error: OAuthErrorCode; readonly error_description: string };

const MAX_DESCRIPTION = 500;

/** Replaces characters that descriptions cannot have (RFC 6749 §5.2): texts of a token can contain any. */
const toDescription = (text: string): string =>
  text
    .slice(0, MAX_DESCRIPTION)
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x5B\x5D-\x7E]/gu, '?');

/** A refusal of a token endpoint. */
export class OAuthRefusal extends Refusal {
  constructor(
    readonly code: OAuthErrorCode,
    description: string,
    { kind = 'bad-request', retryAfter }: { readonly kind?: RefusalKind; readonly retryAfter?: number } = {},
  ) {
    super(kind, [{ detail: toDescription(description) }], retryAfter);
  }
}

export const invalidRequest = (description: string): OAuthRefusal => new OAuthRefusal('invalid_request', description);

const RETRY_SECONDS = 10;

/** Returns a 503: the client can send the same request again later. */
export const temporarilyUnavailable = (description: string): OAuthRefusal =>
  new OAuthRefusal('temporarily_unavailable', description, { kind: 'unavailable', retryAfter: RETRY_SECONDS });

/** Renders a refusal as a token endpoint does. */
export const renderOAuthRefusal = (refusal: Refusal): OAuthErrorDocument => {
  const isTemporary = refusal.kind === 'too-many' || refusal.kind === 'unavailable';
  const code =
    refusal instanceof OAuthRefusal ? refusal.code : isTemporary ? 'temporarily_unavailable' : 'invalid_request';
  return { error: code, error_description: toDescription(refusal.message) };
};
