import { z } from 'zod';
import {
  conflict,
  defineEvents,
  describeUsername,
  requireActive,
  type Decider,
  type EventsOf,
  type Message,
  type Timestamp,
} from '#platform/kernel';
import { type Assurance, SIGN_INS, ASSURANCES } from '#api/access/rules';

/** The ways to sign in. `link`: a sign-in link that an operator created. */
export const SIGN_IN_METHODS = ['password', 'passkey', 'oidc', 'link'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/**
 * Why a session ended. `provider`: the identity provider ended it. `provider-disabled`: the provider is not in use any more. `replaced`: the person had the largest number of
 * sessions and signed in again. `factors-changed`: the password or a second factor changed in another session.
 */
const SESSION_END_REASONS = [
  'signed-out',
  'revoked',
  'idle',
  'expired',
  'provider',
  'provider-disabled',
  'replaced',
  'factors-changed',
  'suspended',
  'forgotten',
] as const;
export type SessionEndReason = (typeof SESSION_END_REASONS)[number];

type SessionPerson = {
  user: string;
  username: string;
  /** Organizations in which the person is an active member. Their audit trails record the event. */
  organizations: readonly string[];
};

type SessionStart = SessionPerson & {
  method: SignInMethod;
  /** Id of the identity provider; null for other methods. */
  provider: string | null;
  /** The provider's id of its own session (`sid`), by which it can end this one. */
  providerSession: string | null;
  assurance: Assurance;
  expiredAt: Timestamp;
  /** When the person authenticated at the identity provider (`auth_time`); null if it is unknown, or for other methods. */
  authenticatedAt: Timestamp | null;
  /** Whether the person had not signed in with this browser before. False before schema version 3. */
  newBrowser: boolean;
};

const person = z.strictObject({
  user: z.string(),
  username: z.string(),
  organizations: z.array(z.string()).readonly(),
});

/** Events never contain the secret of the cookie. The table access.token_hashes stores its hash under the session's id. */
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
);

export type SessionEvent = EventsOf<typeof sessionEvents>;

type SessionCommand =
  | Message<'StartSession', SessionStart>
  | Message<'EndSession', { username: string; organizations: readonly string[]; reason: SessionEndReason }>;

type SessionState = { readonly status: 'absent' | 'ended' } | { readonly status: 'active'; readonly user: string };

export const session: Decider<SessionState, SessionCommand, SessionEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    StartSession: (start, state) => {
      if (state.status !== 'absent') throw conflict('Session exists already');
      const { user, username, organizations, method, provider, providerSession, assurance, expiredAt } = start;
      const { authenticatedAt, newBrowser } = start;
      // Listed one by one, so that no secret of a sign-in reaches the log.
      const data = {
        user,
        username,
        organizations,
        method,
        provider,
        providerSession,
        assurance,
        expiredAt,
        authenticatedAt,
        newBrowser,
      };
      return [{ type: 'SessionStarted', data }];
    },
    EndSession: ({ username, organizations, reason }, state) => {
      const { user } = requireActive(state);
      return [{ type: 'SessionEnded', data: { user, username, organizations, reason } }];
    },
  },
  evolve: {
    SessionStarted: ({ user }) => ({ status: 'active', user }),
    SessionEnded: () => ({ status: 'ended' }),
  },
};
