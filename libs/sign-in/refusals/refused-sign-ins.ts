import type { Message } from '#kernel';

/**
 * Why a sign-in was refused. Wrong secrets of an account are no such reason, because they have an event of the account
 * (`SignInFailed`).
 *
 * - `unknown-account`: no account has the typed name.
 * - `too-many-attempts`: the account or the address must wait after failed attempts.
 * - `unknown-passkey`: no account has the passkey, or its answer is not valid.
 * - `ended-link`: the sign-in link was used before, has expired, or never existed.
 * - `identity`: the identity provider knows the person, and its rules or a missing account refuse them.
 * - `suspended`: the account is suspended.
 */
export const REFUSAL_REASONS = [
  'unknown-account',
  'too-many-attempts',
  'unknown-passkey',
  'ended-link',
  'identity',
  'suspended',
] as const;

/** What the server knows about the person: nothing that they have typed. */
export type SignInRefusal = {
  reason: (typeof REFUSAL_REASONS)[number];
  /** Id of the user, if the name or the link belongs to an account. */
  user: string | null;
  /** Id of the identity provider. */
  provider: string | null;
  /** Fingerprint of a name that no account has. People type passwords into the field of the name. */
  nameFingerprint: string | null;
};

/** `omitted`: refusals for the same reason since the previous event, which have no events because there were too many. */
export type SignInRefused = Message<'SignInRefused', SignInRefusal & { omitted: number }>;
