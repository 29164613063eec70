import { conflict, notFound, unprocessable, type Decider, type Message, type Timestamp } from '#platform/kernel';

export type SignInPerson = {
  user: string;
  username: string;
  /** Organizations in which the person is an active member. Their audit trails record the event. */
  organizations: readonly string[];
};

export const FAILED_METHODS = ['password', 'totp', 'recovery-code', 'passkey', 'oidc'] as const;
export type FailedMethod = (typeof FAILED_METHODS)[number];

/** A message for each of these types. */
type EachMessage<T extends string, D> = T extends string ? Message<T, D> : never;

/** An account of a person at an identity provider. `subject` is null only in events of a forgotten person. */
export type LinkedIdentity = { identity: string; provider: string; issuer: string; subject: string | null };
type Unlinked = Pick<LinkedIdentity, 'identity' | 'provider'>;

/** Ids of linked identities with which the person cannot sign in at present, because their provider is not enabled. */
type UnusableIdentities = { unusable: readonly string[] };

/** Events contain neither secrets nor names of passkeys. Tables of this module store these. */
export type SignInMethodsEvent =
  | EachMessage<'PasswordSet' | 'PasswordRemoved' | 'TotpEnabled' | 'TotpDisabled' | 'SignInMethodsReset', SignInPerson>
  | EachMessage<'RecoveryCodesCreated', SignInPerson & { count: number }>
  | EachMessage<'RecoveryCodeUsed', SignInPerson & { remaining: number }>
  | EachMessage<'PasskeyAdded' | 'PasskeyRenamed' | 'PasskeyRemoved', SignInPerson & { passkey: string }>
  | EachMessage<'IdentityLinked', SignInPerson & LinkedIdentity>
  | EachMessage<'IdentityUnlinked', SignInPerson & Unlinked>
  | EachMessage<'SignInLinkCreated', SignInPerson & { expiredAt: Timestamp; resetsMethods: boolean }>
  | EachMessage<'SignInFailed', SignInPerson & { method: FailedMethod }>;

export type SignInMethodsCommand =
  | EachMessage<'SetPassword' | 'DisableTotp' | 'ResetSignInMethods', SignInPerson>
  | EachMessage<'RemovePassword' | 'DisableTwoFactor', SignInPerson & UnusableIdentities>
  | EachMessage<'EnableTotp' | 'CreateRecoveryCodes', SignInPerson & { count: number }>
  | EachMessage<'UseRecoveryCode', SignInPerson>
  | EachMessage<'AddPasskey' | 'RenamePasskey', SignInPerson & { passkey: string }>
  | EachMessage<'RemovePasskey', SignInPerson & UnusableIdentities & { passkey: string }>
  | EachMessage<'LinkIdentity', SignInPerson & LinkedIdentity>
  | EachMessage<'UnlinkIdentity', SignInPerson & UnusableIdentities & { identity: string }>
  | EachMessage<'CreateSignInLink', SignInPerson & { expiredAt: Timestamp; resetsMethods: boolean }>
  | EachMessage<'FailSignIn', SignInPerson & { method: FailedMethod }>;

type SignInMethodsState = {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly recoveryCodes: number;
  readonly passkeys: readonly string[];
  readonly identities: readonly Unlinked[];
};

export const MAX_PASSKEYS = 20;
export const MAX_IDENTITIES = 20;

const NONE: SignInMethodsState = {
  hasPassword: false,
  hasTotp: false,
  recoveryCodes: 0,
  passkeys: [],
  identities: [],
};

/** Lists the members one by one, so that no secret of a command reaches the log. */
const describePerson = ({ user, username, organizations }: SignInPerson): SignInPerson => ({
  user,
  username,
  organizations,
});

const requireTotp = ({ hasTotp }: SignInMethodsState): void => {
  if (!hasTotp) throw notFound('One-time codes are not enabled');
};

const requirePasskey = ({ passkeys }: SignInMethodsState, passkey: string): void => {
  if (!passkeys.includes(passkey)) throw notFound('There is no such passkey');
};

/** Refuses a state in which the person can no longer sign in. */
const requireWayIn = (
  { hasPassword, passkeys, identities }: SignInMethodsState,
  unusable: readonly string[],
  detail: string,
): void => {
  const isUsable = ({ identity }: Unlinked): boolean => !unusable.includes(identity);
  if (!hasPassword && passkeys.length === 0 && !identities.some(isUsable)) throw unprocessable(detail);
};

const removePasskey = (state: SignInMethodsState, passkey: string): SignInMethodsState => ({
  ...state,
  passkeys: state.passkeys.filter((id) => id !== passkey),
});

const removeIdentity = (state: SignInMethodsState, identity: string): SignInMethodsState => ({
  ...state,
  identities: state.identities.filter((linked) => linked.identity !== identity),
});

const NO_OTHER_WAY_IN =
  'The user has neither a password nor a usable identity provider, and could not sign in any more. An operator can ' +
  'create a sign-in link that replaces all methods: cadastre user sign-in-link';

/** Returns the stream of a person's sign-in methods. */
export const toMethodsStream = (user: string): string => user.replace(/^user-/, 'sim-');

/** The ways in which one person can sign in. */
export const signInMethods: Decider<SignInMethodsState, SignInMethodsCommand, SignInMethodsEvent> = {
  // 2: states contain linked identities.
  version: 2,
  initial: NONE,
  decide: {
    SetPassword: (person) => [{ type: 'PasswordSet', data: describePerson(person) }],
    RemovePassword: ({ unusable, ...person }, state) => {
      if (!state.hasPassword) throw notFound('There is no password');
      requireWayIn({ ...state, hasPassword: false }, unusable, 'Add a passkey before you remove the password');
      return [{ type: 'PasswordRemoved', data: describePerson(person) }];
    },
    EnableTotp: ({ count, ...person }, { hasTotp }) => {
      if (hasTotp) throw conflict('One-time codes are enabled already');
      return [
        { type: 'TotpEnabled', data: describePerson(person) },
        { type: 'RecoveryCodesCreated', data: { ...describePerson(person), count } },
      ];
    },
    DisableTotp: (person, state) => {
      requireTotp(state);
      return [{ type: 'TotpDisabled', data: describePerson(person) }];
    },
    DisableTwoFactor: ({ unusable, ...person }, state) => {
      const { hasTotp, passkeys } = state;
      if (!hasTotp && passkeys.length === 0) return [];
      requireWayIn({ ...state, passkeys: [] }, unusable, NO_OTHER_WAY_IN);
      return [
        ...(hasTotp ? [{ type: 'TotpDisabled', data: describePerson(person) } as const] : []),
        ...passkeys.map(
          (passkey) => ({ type: 'PasskeyRemoved', data: { ...describePerson(person), passkey } }) as const,
        ),
      ];
    },
    CreateRecoveryCodes: ({ count, ...person }, state) => {
      requireTotp(state);
      return [{ type: 'RecoveryCodesCreated', data: { ...describePerson(person), count } }];
    },
    UseRecoveryCode: (person, { recoveryCodes }) => {
      if (recoveryCodes === 0) throw notFound('There are no recovery codes');
      return [{ type: 'RecoveryCodeUsed', data: { ...describePerson(person), remaining: recoveryCodes - 1 } }];
    },
    AddPasskey: ({ passkey, ...person }, { passkeys }) => {
      if (passkeys.length >= MAX_PASSKEYS) {
        throw unprocessable(`You have ${MAX_PASSKEYS} passkeys, the most that an account can have. Remove one first`);
      }
      return [{ type: 'PasskeyAdded', data: { ...describePerson(person), passkey } }];
    },
    RenamePasskey: ({ passkey, ...person }, state) => {
      requirePasskey(state, passkey);
      return [{ type: 'PasskeyRenamed', data: { ...describePerson(person), passkey } }];
    },
    RemovePasskey: ({ passkey, unusable, ...person }, state) => {
      requirePasskey(state, passkey);
      const detail = 'Set a password or add another passkey before you remove the last passkey';
      requireWayIn(removePasskey(state, passkey), unusable, detail);
      return [{ type: 'PasskeyRemoved', data: { ...describePerson(person), passkey } }];
    },
    LinkIdentity: ({ identity, provider, issuer, subject, ...person }, { identities }) => {
      if (identities.length >= MAX_IDENTITIES) {
        throw unprocessable(
          `Your account is linked ${MAX_IDENTITIES} times, the most that it can be. Unlink one first`,
        );
      }
      return [{ type: 'IdentityLinked', data: { ...describePerson(person), identity, provider, issuer, subject } }];
    },
    UnlinkIdentity: ({ identity, unusable, ...person }, state) => {
      const linked = state.identities.find((one) => one.identity === identity);
      if (!linked) throw notFound('There is no such link');
      const detail = 'Set a password or add a passkey before you unlink the last identity provider';
      requireWayIn(removeIdentity(state, identity), unusable, detail);
      return [{ type: 'IdentityUnlinked', data: { ...describePerson(person), identity, provider: linked.provider } }];
    },
    CreateSignInLink: ({ expiredAt, resetsMethods, ...person }) => [
      { type: 'SignInLinkCreated', data: { ...describePerson(person), expiredAt, resetsMethods } },
    ],
    ResetSignInMethods: (person, { hasPassword, hasTotp, passkeys, identities }) =>
      hasPassword || hasTotp || passkeys.length > 0 || identities.length > 0
        ? [{ type: 'SignInMethodsReset', data: describePerson(person) }]
        : [],
    FailSignIn: ({ method, ...person }) => [{ type: 'SignInFailed', data: { ...describePerson(person), method } }],
  },
  evolve: {
    PasswordSet: (_, state) => ({ ...state, hasPassword: true }),
    PasswordRemoved: (_, state) => ({ ...state, hasPassword: false }),
    TotpEnabled: (_, state) => ({ ...state, hasTotp: true }),
    TotpDisabled: (_, state) => ({ ...state, hasTotp: false, recoveryCodes: 0 }),
    SignInMethodsReset: () => NONE,
    RecoveryCodesCreated: ({ count }, state) => ({ ...state, recoveryCodes: count }),
    RecoveryCodeUsed: ({ remaining }, state) => ({ ...state, recoveryCodes: remaining }),
    PasskeyAdded: ({ passkey }, state) => ({ ...state, passkeys: [...state.passkeys, passkey] }),
    PasskeyRenamed: (_, state) => state,
    PasskeyRemoved: ({ passkey }, state) => removePasskey(state, passkey),
    IdentityLinked: ({ identity, provider }, state) => ({
      ...state,
      identities: [...state.identities, { identity, provider }],
    }),
    IdentityUnlinked: ({ identity }, state) => removeIdentity(state, identity),
    SignInLinkCreated: (_, state) => state,
    SignInFailed: (_, state) => state,
  },
};
