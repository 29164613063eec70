import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { gpgKey, type GpgKeyEvent } from './gpg-key.js';

const { given } = specify(gpgKey);

const key = { keyId: '34365D9472D7468F', asciiArmor: '-----BEGIN PGP PUBLIC KEY BLOCK-----' };
const added: GpgKeyEvent = { type: 'GpgKeyAdded', data: key };
const removed: GpgKeyEvent = { type: 'GpgKeyRemoved', data: { keyId: key.keyId } };

const add = { type: 'AddGpgKey', data: key } as const;
const remove = { type: 'RemoveGpgKey', data: {} } as const;

describe('decisions about a GPG key', () => {
  it('adds a key only once', () => {
    given().when(add).yields(added);
    given(added).when(add).refuses('conflict', 'exists already');
    given(added, removed).when(add).refuses('conflict', 'exists already');
  });

  it('renews a key that exists', () => {
    const renew = { type: 'RenewGpgKey', data: { asciiArmor: 'later' } } as const;
    given(added)
      .when(renew)
      .yields({ type: 'GpgKeyRenewed', data: { keyId: key.keyId, asciiArmor: 'later' } });
    given(added, removed).when(renew).refuses('not-found', 'Not found');
  });

  it('removes a key only once', () => {
    given(added).when(remove).yields(removed);
    given(added, removed).when(remove).refuses('not-found', 'Not found');
    given().when(remove).refuses('not-found', 'Not found');
  });
});
