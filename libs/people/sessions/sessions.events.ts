import { z } from 'zod';
import { SIGN_INS, ASSURANCES } from '#access';
import { defineEvents, describeUsername, type EventKinds } from '#kernel';
import { SESSION_END_REASONS, SIGN_IN_METHODS, type SessionEvent } from './session.js';

const person = z.strictObject({
  user: z.string(),
  username: z.string(),
  organizations: z.array(z.string()).readonly(),
});

export const sessionEvents = defineEvents(
  { ...SIGN_INS, stream: 'ses', audited: 'session' },
  {
    SessionStarted: {
      // 2: authenticatedAt, and assurance can be oidc-two-factor.
      // 3: newBrowser.
      schemaVersion: 3,
      upcast: { 1: [{ add: { authenticatedAt: null } }], 2: [{ add: { newBrowser: false } }] },
      schema: person.extend({
        method: z.enum(SIGN_IN_METHODS),
        provider: z.string().nullable(),
        providerSession: z.string().nullable(),
        assurance: z.enum(ASSURANCES),
        expiredAt: z.iso.datetime(),
        authenticatedAt: z.iso.datetime().nullable(),
        newBrowser: z.boolean(),
      }),
      audit: {
        action: 'create',
        site: 'without-organization',
        organizations: ({ organizations }) => organizations,
        meta: ({ username, user, method, assurance }) => ({ user: username, user_id: user, method, assurance }),
      },
      personal: describeUsername,
    },
    SessionEnded: {
      // 2: reason can be provider-disabled.
      schemaVersion: 2,
      upcast: { 1: [] },
      schema: person.extend({ reason: z.enum(SESSION_END_REASONS) }),
      audit: {
        action: 'destroy',
        site: 'without-organization',
        organizations: ({ organizations }) => organizations,
        meta: ({ username, user, reason }) => ({ user: username, user_id: user, reason }),
      },
      personal: describeUsername,
    },
  },
) satisfies EventKinds<SessionEvent>;
