import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { MAX_IDENTITIES, MAX_PASSKEYS, signInMethods, type SignInMethodsEvent } from './sign-in-methods.js';

const { given } = specify(signInMethods);

const person = { user: 'user-1', username: 'ada', organizations: ['org-1'] };
const passwordSet: SignInMethodsEvent = { type: 'PasswordSet', data: person };
const totpEnabled: SignInMethodsEvent = { type: 'TotpEnabled', data: person };
const codesCreated: SignInMethodsEvent = { type: 'RecoveryCodesCreated', data: { ...person, count: 2 } };
const added = (passkey: string): SignInMethodsEvent => ({ type: 'PasskeyAdded', data: { ...person, passkey } });
const addPasskey = { type: 'AddPasskey', data: { ...person, passkey: 'pk-1' } } as const;
const removePasskey = { type: 'RemovePasskey', data: { ...person, passkey: 'pk-1', unusable: [] } } as const;

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
      .when({ type: 'RemovePassword', data: { ...person, unusable: [] } })
      .yields({ type: 'PasswordRemoved', data: person }));

  it('is not removed if nothing else remains, or if there is none', () => {
    given(passwordSet)
      .when({ type: 'RemovePassword', data: { ...person, unusable: [] } })
      .refuses('unprocessable', 'Add a passkey before you remove the password');
    given()
      .when({ type: 'RemovePassword', data: { ...person, unusable: [] } })
      .refuses('not-found', 'There is no password');
  });
});

describe('the second factors', () => {
  const disable = (...unusable: string[]) => ({ type: 'DisableTwoFactor', data: { ...person, unusable } }) as const;
  const disabled: SignInMethodsEvent = { type: 'TotpDisabled', data: person };
  const removed = (passkey: string): SignInMethodsEvent => ({ type: 'PasskeyRemoved', data: { ...person, passkey } });

  it('are removed together, if the person keeps the password or an identity provider', () => {
    given(passwordSet, totpEnabled, codesCreated, added('pk-1'), added('pk-2'))
      .when(disable())
      .yields(disabled, removed('pk-1'), removed('pk-2'));
    given(passwordSet).when(disable()).yields();
    given().when(disable()).yields();
    const data = { ...person, identity: 'lid-1', provider: 'idp-1', issuer: 'https://id.test', subject: 'ada' };
    given({ type: 'IdentityLinked', data }, added('pk-1')).when(disable()).yields(removed('pk-1'));
    given({ type: 'IdentityLinked', data }, added('pk-1'))
      .when(disable('lid-1'))
      .refuses('unprocessable', 'The user has neither a password nor a usable identity provider');
  });

  it('stay if the person could not sign in any more', () =>
    given(added('pk-1'))
      .when(disable())
      .refuses('unprocessable', 'The user has neither a password nor a usable identity provider'));
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

describe('a linked identity', () => {
  const subject = { issuer: 'https://id.example.com', subject: '248289761001' };
  const link = { identity: 'lid-1', provider: 'idp-1' };
  const linked: SignInMethodsEvent = { type: 'IdentityLinked', data: { ...person, ...link, ...subject } };
  const unlinked: SignInMethodsEvent = { type: 'IdentityUnlinked', data: { ...person, ...link } };
  const unlink = (unusable: readonly string[] = []) =>
    ({ type: 'UnlinkIdentity', data: { ...person, identity: 'lid-1', unusable } }) as const;

  it('is added, and removed if another way in remains', () => {
    given()
      .when({ type: 'LinkIdentity', data: { ...person, ...link, ...subject } })
      .yields(linked);
    given(linked, passwordSet).when(unlink()).yields(unlinked);
    given(linked, added('pk-1')).when(unlink()).yields(unlinked);
    given(linked, { ...linked, data: { ...linked.data, identity: 'lid-2' } })
      .when(unlink())
      .yields(unlinked);
  });

  it('is not removed if nothing else remains, or if there is none', () => {
    const detail = 'Set a password or add a passkey before you unlink the last identity provider';
    given(linked).when(unlink()).refuses('unprocessable', detail);
    given(linked, { ...linked, data: { ...linked.data, identity: 'lid-2' } })
      .when(unlink(['lid-2']))
      .refuses('unprocessable', detail);
    given(passwordSet).when(unlink()).refuses('not-found', 'There is no such link');
    given(linked, passwordSet, unlinked).when(unlink()).refuses('not-found', 'There is no such link');
  });

  it('is enough for an account without a password and without passkeys, if its provider is enabled', () => {
    given(linked, passwordSet)
      .when({ type: 'RemovePassword', data: { ...person, unusable: [] } })
      .yields({ type: 'PasswordRemoved', data: person });
    given(linked, passwordSet)
      .when({ type: 'RemovePassword', data: { ...person, unusable: ['lid-1'] } })
      .refuses('unprocessable', 'Add a passkey before you remove the password');
    given(linked, added('pk-1'))
      .when(removePasskey)
      .yields({ type: 'PasskeyRemoved', data: { ...person, passkey: 'pk-1' } });
  });

  it('is refused beyond the largest number', () =>
    given(
      ...Array.from({ length: MAX_IDENTITIES }, (_, n): SignInMethodsEvent => ({
        type: 'IdentityLinked',
        data: { ...person, ...link, ...subject, identity: `lid-${n + 10}` },
      })),
    )
      .when({ type: 'LinkIdentity', data: { ...person, ...link, ...subject } })
      .refuses('unprocessable', 'Your account is linked 20 times, the most that it can be. Unlink one first'));

  it('is removed by a reset', () => {
    given(linked)
      .when({ type: 'ResetSignInMethods', data: person })
      .yields({ type: 'SignInMethodsReset', data: person });
    given(linked, { type: 'SignInMethodsReset', data: person })
      .when(unlink())
      .refuses('not-found', 'There is no such link');
  });
});

describe('a reset', () => {
  const reset = { type: 'ResetSignInMethods', data: person } as const;

  it('removes all methods', () => {
    const done: SignInMethodsEvent = { type: 'SignInMethodsReset', data: person };
    given(passwordSet, totpEnabled, added('pk-1')).when(reset).yields(done);
    given(passwordSet, done)
      .when({ type: 'RemovePassword', data: { ...person, unusable: [] } })
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
