import type { TokenLifetime } from '#identity/people';

export type OauthOptions = {
  /** The origin of the site, which is also the issuer. */
  readonly publicUrl: string;
  /** Null: tokens never end. */
  readonly tokenLifetime: TokenLifetime | null;
};

/** Injection token of the options. */
export const OAUTH_OPTIONS = 'cadastre:oauth-options';
