import { z } from 'zod';
import { defineEvents, describeUsername, type EventKinds } from '#platform/kernel';
import { SIGN_INS } from '#api/access/rules';
import { FAILED_METHODS, type LinkedIdentity, type SignInMethodsEvent, type SignInPerson } from './sign-in-methods.js';

const person = z.strictObject({
  user: z.string(),
  username: z.string(),
  organizations: z.array(z.string()).readonly(),
});
const withPasskey = person.extend({ passkey: z.string() });
const unlinked = person.extend({ identity: z.string(), provider: z.string() });
const linked = unlinked.extend({ issuer: z.string(), subject: z.string().nullable() });

const describeUser = ({ user, username }: SignInPerson) => ({ user: username, user_id: user });
const listTrails = ({ organizations }: SignInPerson) => organizations;

const defineEvent = <S extends z.ZodType>(
  schema: S,
  action: string,
  describe: (data: z.infer<S>) => Readonly<Record<string, string | number | boolean>>,
) => ({
  schema,
  audit: {
    action,
    site: 'without-organization' as const,
    organizations: (data: z.infer<S> & SignInPerson) => listTrails(data),
    meta: (data: z.infer<S> & SignInPerson) => ({ ...describeUser(data), ...describe(data) }),
  },
  personal: describeUsername,
});

const defineChange = (change: string) => defineEvent(person, 'update', () => ({ change }));
const definePasskeyChange = (change: string) =>
  defineEvent(withPasskey, 'update', ({ passkey }) => ({ change, passkey }));

export const signInMethodsEvents = defineEvents(
  { ...SIGN_INS, stream: 'sim', audited: 'sign_in_methods' },
  {
    PasswordSet: defineChange('password_set'),
    PasswordRemoved: defineChange('password_removed'),
    TotpEnabled: defineChange('totp_enabled'),
    TotpDisabled: defineChange('totp_disabled'),
    SignInMethodsReset: defineChange('reset'),
    RecoveryCodesCreated: defineEvent(person.extend({ count: z.int() }), 'update', ({ count }) => ({
      change: 'recovery_codes_created',
      count,
    })),
    RecoveryCodeUsed: defineEvent(person.extend({ remaining: z.int() }), 'update', ({ remaining }) => ({
      change: 'recovery_code_used',
      remaining,
    })),
    PasskeyAdded: definePasskeyChange('passkey_added'),
    PasskeyRenamed: definePasskeyChange('passkey_renamed'),
    PasskeyRemoved: definePasskeyChange('passkey_removed'),
    IdentityLinked: {
      ...defineEvent(linked, 'link_identity', ({ provider, issuer }: LinkedIdentity) => ({
        identity_provider: provider,
        issuer,
      })),
      personal: (data) => [...describeUsername(data), { at: ['subject'], person: data.user, kind: 'detail' }],
    },
    IdentityUnlinked: defineEvent(unlinked, 'unlink_identity', ({ provider }) => ({
      identity_provider: provider,
    })),
    SignInLinkCreated: defineEvent(
      person.extend({ expiredAt: z.iso.datetime(), resetsMethods: z.boolean() }),
      'create_link',
      ({ expiredAt, resetsMethods }) => ({ expired_at: expiredAt, resets_methods: resetsMethods }),
    ),
    SignInFailed: {
      ...defineEvent(person.extend({ method: z.enum(FAILED_METHODS) }), 'sign_in_failed', ({ method }) => ({ method })),
      // 2: the method can be oidc.
      schemaVersion: 2,
      upcast: { 1: [] },
    },
  },
) satisfies EventKinds<SignInMethodsEvent>;
