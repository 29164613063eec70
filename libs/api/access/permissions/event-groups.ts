import type { UnsentRule } from '#platform/kernel';

/** What events of recorded reads have in common. */
export const READS = { topic: 'reads', stream: 'reads', live: { unsent: 'a read, which changes nothing' } } as const;

/** Why events of tokens and sign-in methods become no live messages. */
export const NO_CREDENTIALS: UnsentRule = {
  unsent: 'an event of a token or of the ways in which a person signs in',
};

/** What events of sign-ins have in common. */
export const SIGN_INS = {
  topic: 'access',
  live: NO_CREDENTIALS,
  notImported: 'people sign in to a site, and each site decides how',
} as const;

/** What events of identity providers and their people and groups have in common. */
export const PROVISIONING = {
  topic: 'access',
  live: { unsent: 'an event of an identity provider, which belongs to the site' },
  notImported: 'identity providers and what they provision belong to a site',
} as const;
