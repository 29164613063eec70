import { beforeAll, describe, expect, it } from '@jest/globals';
import { readPrivateKey, readSignature } from 'openpgp';
import { signDetached, verifyDetached } from './index.js';
import { DSA, expectRefusal, keyPair, NOW, yearsAgo, type KeyPair } from './spec.js';

const content = Buffer.from('checksums\n');

let rsa: KeyPair;
let locked: KeyPair;

beforeAll(async () => {
  [rsa, locked] = [await keyPair(), await keyPair({ passphrase: 'open sesame' })];
});

const signBy = ({ privateKey }: KeyPair, passphrase?: string) =>
  signDetached({ content, armor: privateKey, passphrase, now: NOW });
const verify = (signature: Uint8Array, { publicKey }: KeyPair) =>
  verifyDetached({ armor: publicKey, content, signature, now: NOW });

describe('signing a file', () => {
  it('creates a binary signature that verifies', async () => {
    const signature = await signBy(rsa);
    expect(await verify(signature, rsa)).toMatch(/^[0-9A-F]{16}$/);
    const { packets } = await readSignature({ binarySignature: signature });
    expect(packets.map(({ created }) => created)).toEqual([NOW]);
  });

  it('decrypts a locked key with its passphrase', async () => {
    expect(await verify(await signBy(locked, 'open sesame'), locked)).toMatch(/^[0-9A-F]{16}$/);
  });

  it('is refused without the passphrase or with a wrong one', async () => {
    await expectRefusal(signBy(locked), /^The private key [0-9A-F]{16} is locked; its passphrase is needed$/);
    await expectRefusal(signBy(locked, ''), /is locked; its passphrase is needed$/);
    await expectRefusal(
      signBy(locked, 'open barley'),
      /^The private key [0-9A-F]{16} cannot be unlocked: the passphrase is wrong$/,
    );
  });

  it('uses the subkey that clients can verify', async () => {
    const mixed = await keyPair({ subkeys: [{ sign: true, type: 'curve448' }] });
    expect(await verify(await signBy(mixed), mixed)).toMatch(/^[0-9A-F]{16}$/);
  });

  it('works with only a subkey, without the secret of its primary key', async () => {
    const complete = await keyPair({ subkeys: [{ sign: true }] });
    const key = await readPrivateKey({ armoredKey: complete.privateKey });
    if ('makeDummy' in key.keyPacket) key.keyPacket.makeDummy();
    const signature = await signBy({ ...complete, privateKey: key.armor() });
    expect(await verify(signature, complete)).toBe(key.getSubkeys()[0]?.getKeyID().toHex().toUpperCase());
  });

  it('is refused if the key has expired or clients cannot verify it', async () => {
    await expectRefusal(
      signBy(await keyPair({ type: 'curve448' })),
      /^The private key has the type ed448; clients verify signatures of RSA, DSA, ed25519 and NIST keys only/,
    );
    const expired = await keyPair({ date: yearsAgo(2), keyExpirationTime: 60 });
    await expectRefusal(signBy(expired), /^The key has expired: extend it/);
  });

  it.each([
    ['a public key', () => DSA.publicKey],
    ['a text', () => 'hello'],
  ])('is refused if the key is %s', async (_, armor) => {
    await expectRefusal(
      signDetached({ content, armor: armor(), now: NOW }),
      'The key is not an ASCII-armored private key, as gpg --armor --export-secret-keys prints it',
    );
  });
});
