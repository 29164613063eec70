import { z } from 'zod';
import type { EventKinds } from '#kernel';
import { REFUSAL_REASONS, type SignInRefused } from './refused-sign-ins.js';

export const refusedSignInEvents: EventKinds<SignInRefused> = {
  SignInRefused: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({
      reason: z.enum(REFUSAL_REASONS),
      user: z.string().nullable(),
      provider: z.string().nullable(),
      nameFingerprint: z.string().nullable(),
      omitted: z.int(),
    }),
    audit: {
      resource: 'sign_in',
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
};
