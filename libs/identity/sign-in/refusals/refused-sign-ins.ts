import { z } from 'zod';
import { defineEvents, type EventsOf } from '#platform/kernel';
import { SIGN_INS } from '#api/access/rules';

/**
 * Why a sign-in was refused. A wrong secret of an account is not among the reasons, because the account has an event for it
 * (`SignInFailed`).
 *
 * - `unknown-account`: no account has the typed name.
 * - `too-many-attempts`: the account or the address must wait after failed attempts.
 * - `unknown-passkey`: no account has the passkey, or its answer is not valid.
 * - `ended-link`: the sign-in link was used before, has expired, or never existed.
 * - `identity`: the identity provider has proved the person, who does not satisfy its rules or has no account.
 * - `suspended`: the account is suspended.
 */
const REFUSAL_REASONS = [
  'unknown-account',
  'too-many-attempts',
  'unknown-passkey',
  'ended-link',
  'identity',
  'suspended',
] as const;

/** The recorded facts of a refusal. They contain no text that the person typed. */
export type SignInRefusal = {
  reason: (typeof REFUSAL_REASONS)[number];
  /** Id of the user, if the name or the link belongs to an account. */
  user: string | null;
  /** Id of the identity provider. */
  provider: string | null;
  /** Fingerprint of a name that no account has. People type passwords into the field of the name. */
  nameFingerprint: string | null;
};

/** `omitted`: the number of refusals for the same reason since the previous event that have no event. */
export const refusedSignInEvents = defineEvents(
  { ...SIGN_INS, stream: 'sign-ins', audited: 'sign_in' },
  {
    SignInRefused: {
      schema: z.strictObject({
        reason: z.enum(REFUSAL_REASONS),
        user: z.string().nullable(),
        provider: z.string().nullable(),
        nameFingerprint: z.string().nullable(),
        omitted: z.int(),
      }),
      audit: {
        action: 'refuse',
        site: 'without-organization',
        meta: ({ reason, user, provider, nameFingerprint, omitted }) => ({
          reason,
          user_id: user,
          identity_provider: provider,
          name_fingerprint: nameFingerprint,
          omitted,
        }),
      },
    },
  },
);

export type SignInRefused = EventsOf<typeof refusedSignInEvents>;
