import type { z } from 'zod';
import type { EventContext } from '#platform/kernel';

/** The answer to a request for a token (RFC 6749 §5.1). */
export type TokenAnswer = {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds until the token ends; absent if it never ends. */
  readonly expires_in?: number;
  /** The kind of token, which only token exchange names (RFC 8693 §2.2.1). */
  readonly issued_token_type?: string;
};

/** The address, the program and the id of the request. */
export type TokenRequest = EventContext['request'];

/**
 * A way to get a token at `POST /oauth/token`. The request names it by its `grant_type`. To add one, extend this class
 * and list it in TOKEN_GRANT_CLASSES of libs/identity/oauth/oauth.module.ts.
 */
export abstract class TokenGrant<Form = unknown> {
  abstract readonly grantType: string;
  /** The parameters besides `grant_type`. Each needs a limit. */
  abstract readonly form: z.ZodType<Form>;

  /** Issues a token. Throws OauthRefusal. */
  abstract issue(form: Form, request: TokenRequest): Promise<TokenAnswer>;
}

/** Injection token of all grants. */
export const TOKEN_GRANTS = 'cadastre:token-grants';
