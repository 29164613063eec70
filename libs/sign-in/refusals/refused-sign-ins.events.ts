import { z } from 'zod';
import { defineEvents, type EventKinds } from '#kernel';
import { SIGN_INS } from '#access/rules';
import { REFUSAL_REASONS, type SignInRefused } from './refused-sign-ins.js';

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
) satisfies EventKinds<SignInRefused>;
