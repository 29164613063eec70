import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { MAX_PASSKEYS, signInMethods, type SignInMethodsEvent } from './sign-in-methods.js';

const { given } = specify(signInMethods);

const person = { user: 'user-1', username: 'ada', organizations: ['org-1'] };
const passwordSet: SignInMethodsEvent = { type: 'PasswordSet', data: person };
const totpEnabled: SignInMethodsEvent = { type: 'TotpEnabled', data: person };
const codesCreated: SignInMethodsEvent = { type: 'RecoveryCodesCreated', data: { ...person, count: 2 } };
const added = (passkey: string): SignInMethodsEvent => ({ type: 'PasskeyAdded', data: { ...person, passkey } });
const addPasskey = { type: 'AddPasskey', data: { ...person, passkey: 'pk-1' } } as const;
const removePasskey = { type: 'RemovePasskey', data: { ...person, passkey: 'pk-1' } } as const;

describe('a password', () => {
  it('is set and replaced', () => {
    given().when({ type: 'SetPassword', data: person }).yields(passwordSet);
    given(passwordSet).when({ type: 'SetPassword', data: person }).yields(passwordSet);
  });

  it('is set without any secret in the event', () =>
    given()
      .when({ type: 'SetPassword', data: { ...person, hash: 'secret' } as typeof person })
      .yields(passwordSet));

  it('is removed if the person has a passkey', () =>
    given(passwordSet, added('pk-1'))
      .when({ type: 'RemovePassword', data: person })
      .yields({ type: 'PasswordRemoved', data: person }));

  it('is not removed if nothing else remains, or if there is none', () => {
    given(passwordSet)
      .when({ type: 'RemovePassword', data: person })
      .refuses('unprocessable', 'Add a passkey before you remove the password');
    given().when({ type: 'RemovePassword', data: person }).refuses('not-found', 'There is no password');
  });
});

describe('one-time codes', () => {
  const enable = { type: 'EnableTotp', data: { ...person, count: 2 } } as const;

  it('are enabled with recovery codes', () => given().when(enable).yields(totpEnabled, codesCreated));

  it('are enabled once', () =>
    given(totpEnabled).when(enable).refuses('conflict', 'One-time codes are enabled already'));

  it('are disabled with the recovery codes', () => {
    const disabled: SignInMethodsEvent = { type: 'TotpDisabled', data: person };
    given(totpEnabled, codesCreated).when({ type: 'DisableTotp', data: person }).yields(disabled);
    given(totpEnabled, codesCreated, disabled)
      .when({ type: 'UseRecoveryCode', data: person })
      .refuses('not-found', 'There are no recovery codes');
    given().when({ type: 'DisableTotp', data: person }).refuses('not-found', 'One-time codes are not enabled');
  });

  it('can be replaced by a recovery code, until none remains', () => {
    const used = (remaining: number): SignInMethodsEvent => ({
      type: 'RecoveryCodeUsed',
      data: { ...person, remaining },
    });
    const use = { type: 'UseRecoveryCode', data: person } as const;
    given(totpEnabled, codesCreated).when(use).yields(used(1));
    given(totpEnabled, codesCreated, used(1)).when(use).yields(used(0));
    given(totpEnabled, codesCreated, used(1), used(0)).when(use).refuses('not-found', 'There are no recovery codes');
  });

  it('are needed for new recovery codes', () => {
    const create = { type: 'CreateRecoveryCodes', data: { ...person, count: 2 } } as const;
    given(totpEnabled).when(create).yields(codesCreated);
    given().when(create).refuses('not-found', 'One-time codes are not enabled');
  });
});

describe('a passkey', () => {
  it('is added, renamed and removed', () => {
    given().when(addPasskey).yields(added('pk-1'));
    given(added('pk-1'))
      .when({ type: 'RenamePasskey', data: { ...person, passkey: 'pk-1' } })
      .yields({ type: 'PasskeyRenamed', data: { ...person, passkey: 'pk-1' } });
    given(passwordSet, added('pk-1'))
      .when(removePasskey)
      .yields({ type: 'PasskeyRemoved', data: { ...person, passkey: 'pk-1' } });
  });

  it('is not removed if nothing else remains, or if there is none', () => {
    given(added('pk-1'))
      .when(removePasskey)
      .refuses('unprocessable', 'Set a password or add another passkey before you remove the last passkey');
    given().when(removePasskey).refuses('not-found', 'There is no such passkey');
  });

  it('is refused beyond the largest number', () =>
    given(...Array.from({ length: MAX_PASSKEYS }, (_, n) => added(`pk-${n + 10}`)))
      .when(addPasskey)
      .refuses('unprocessable', 'You have 20 passkeys, the most that an account can have. Remove one first'));
});

describe('a reset', () => {
  const reset = { type: 'ResetSignInMethods', data: person } as const;

  it('removes all methods', () => {
    const done: SignInMethodsEvent = { type: 'SignInMethodsReset', data: person };
    given(passwordSet, totpEnabled, added('pk-1')).when(reset).yields(done);
    given(passwordSet, done)
      .when({ type: 'RemovePassword', data: person })
      .refuses('not-found', 'There is no password');
  });

  it('yields no event if there are no methods', () => given().when(reset).yields());
});

describe('a sign-in', () => {
  it('records a failure by its method', () =>
    given()
      .when({ type: 'FailSignIn', data: { ...person, method: 'password' } })
      .yields({ type: 'SignInFailed', data: { ...person, method: 'password' } }));

  it('records a new link without its secret', () => {
    const link = { ...person, expiredAt: '2026-11-24T00:15:00.000Z', resetsMethods: false };
    given().when({ type: 'CreateSignInLink', data: link }).yields({ type: 'SignInLinkCreated', data: link });
  });
});
