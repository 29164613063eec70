import type { Timestamp } from '#platform/kernel';
import type { SignInMethodsEvent } from '../methods/sign-in-methods.js';

/** Events that change how a person can sign in. Failures and new names of passkeys do not. */
export const METHOD_CHANGES = [
  'PasswordSet',
  'PasswordRemoved',
  'TotpEnabled',
  'TotpDisabled',
  'RecoveryCodesCreated',
  'RecoveryCodeUsed',
  'PasskeyAdded',
  'PasskeyRemoved',
  'IdentityLinked',
  'IdentityUnlinked',
  'SignInLinkCreated',
  'SignInMethodsReset',
] as const satisfies readonly SignInMethodsEvent['type'][];

/** Events of other streams that a person must notice: a new token, and a sign-in with a new browser. */
export const ACCESS_CHANGES = ['AuthenticationTokenCreated', 'SessionStarted'] as const;

export const ACCOUNT_CHANGES = [...METHOD_CHANGES, ...ACCESS_CHANGES] as const;
type AccountChangeType = (typeof ACCOUNT_CHANGES)[number];

/** A change of an account that its person must notice. `address`: of the browser or program; null for operators. */
export type AccountChangeRow = {
  readonly type: AccountChangeType;
  readonly time: Timestamp;
  readonly address: string | null;
};

const TEXTS: Readonly<Record<AccountChangeType, string>> = {
  PasswordSet: 'The password was set',
  PasswordRemoved: 'The password was removed',
  TotpEnabled: 'One-time codes were turned on',
  TotpDisabled: 'One-time codes were turned off',
  RecoveryCodesCreated: 'Recovery codes were created',
  RecoveryCodeUsed: 'A recovery code was used',
  PasskeyAdded: 'A passkey was added',
  PasskeyRemoved: 'A passkey was removed',
  IdentityLinked: 'An identity provider was linked',
  IdentityUnlinked: 'An identity provider was unlinked',
  SignInLinkCreated: 'An operator created a sign-in link',
  SignInMethodsReset: 'All ways to sign in were reset',
  AuthenticationTokenCreated: 'A token was created',
  SessionStarted: 'A new browser signed in',
};

export const describeAccountChange = ({ type }: Pick<AccountChangeRow, 'type'>): string => TEXTS[type];
