import { z } from 'zod';
import { ASSURANCES } from '#access';
import { describeUsername, type EventKinds } from '#kernel';
import { SESSION_END_REASONS, SIGN_IN_METHODS, type SessionEvent } from './session.js';

const person = z.strictObject({
  user: z.string(),
  username: z.string(),
  organizations: z.array(z.string()).readonly(),
});

export const sessionEvents: EventKinds<SessionEvent> = {
  SessionStarted: {
    // 2: authenticatedAt, and assurance can be oidc-two-factor.
    // 3: newBrowser.
    schemaVersion: 3,
    upcast: { 1: [{ add: { authenticatedAt: null } }], 2: [{ add: { newBrowser: false } }] },
    topic: 'access',
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
      resource: 'session',
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
    topic: 'access',
    schema: person.extend({ reason: z.enum(SESSION_END_REASONS) }),
    audit: {
      resource: 'session',
      action: 'destroy',
      site: 'without-organization',
      organizations: ({ organizations }) => organizations,
      meta: ({ username, user, reason }) => ({ user: username, user_id: user, reason }),
    },
    personal: describeUsername,
  },
};
