import type { UnsentRule } from '#kernel';

/** Recorded reads. */
export const READS = { topic: 'reads', stream: 'reads', live: { unsent: 'a read, which changes nothing' } } as const;

/** For events of tokens and sign-in methods. */
export const NO_CREDENTIALS: UnsentRule = {
  unsent: 'an event of a token or of the ways in which a person signs in',
};

/** How people sign in. */
export const SIGN_INS = {
  topic: 'access',
  live: NO_CREDENTIALS,
  notImported: 'people sign in to a site, and each site decides how',
} as const;

/** What identity providers say about people and groups. */
export const PROVISIONING = {
  topic: 'access',
  live: { unsent: 'an event of an identity provider, which belongs to the site' },
  notImported: 'identity providers and what they provision belong to a site',
} as const;
