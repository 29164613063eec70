/** A setting in force. It is never a secret. */
export type SiteSetting = { readonly name: string; readonly value: string };

/** What the process knows about its site without the database. */
export type SiteFacts = {
  readonly version: string;
  readonly settings: readonly SiteSetting[];
  readonly jobs: readonly { readonly name: string; readonly everyMs: number }[];
  /** Followers that must run somewhere. */
  readonly followers: readonly { readonly name: string; readonly only?: readonly string[] }[];
};

export const SITE_FACTS = Symbol('SITE_FACTS');
