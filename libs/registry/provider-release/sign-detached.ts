import { createMessage, decryptKey, readPrivateKeys, sign, type Key, type PrivateKey, type Subkey } from 'openpgp';
import { unprocessable } from '#platform/kernel';
import { OPENPGP_CONFIG, checkUsable } from './key-rules.js';
import { getKeyId, findSigningKey } from './signing-key.js';

export type SigningInput = {
  readonly content: Uint8Array;
  /** ASCII-armored private key, from `gpg --armor --export-secret-keys`, or only the signing subkey. */
  readonly armor: string;
  readonly passphrase?: string | undefined;
  readonly now: Date;
};

/** Parses a private key. Error messages contain nothing of it. */
const parsePrivateKey = async (armor: string): Promise<PrivateKey> => {
  const [key, ...others] = await readPrivateKeys({ armoredKeys: armor, config: OPENPGP_CONFIG }).catch(() => []);
  if (!key) {
    throw unprocessable('The key is not an ASCII-armored private key, as gpg --armor --export-secret-keys prints it');
  }
  if (others.length > 0) throw unprocessable('The file contains several private keys; exactly one is needed');
  checkUsable(key.keyPacket, { name: 'The private key' });
  return key;
};

/** Returns whether the secret is included. An exported subkey contains its primary key without the secret. */
const hasSecret = ({ keyPacket }: Key | Subkey): boolean => 'isDummy' in keyPacket && !keyPacket.isDummy();

const unlockKey = async (key: PrivateKey, part: Key | Subkey, passphrase: string | undefined): Promise<PrivateKey> => {
  if (part.keyPacket.isDecrypted()) return key;
  if (!passphrase) throw unprocessable(`The private key ${getKeyId(key)} is locked; its passphrase is needed`);
  return decryptKey({ privateKey: key, passphrase, config: OPENPGP_CONFIG }).catch((error: unknown) => {
    const isWrong = error instanceof Error && /Incorrect key passphrase/.test(error.message);
    throw unprocessable(
      `The private key ${getKeyId(key)} cannot be unlocked${isWrong ? ': the passphrase is wrong' : ''}`,
    );
  });
};

/** Signs like `gpg --detach-sign`: returns the binary signature that clients need. */
export const signDetached = async ({ content, armor, passphrase, now }: SigningInput): Promise<Uint8Array> => {
  const key = await parsePrivateKey(armor);
  const part = await findSigningKey(key, now, hasSecret);
  const message = await createMessage({ binary: content });
  // Typed as unknown because the library's return type depends on the types of streams, which are not used here.
  const signature: unknown = await sign({
    message,
    signingKeys: await unlockKey(key, part, passphrase),
    signingKeyIDs: part.getKeyID(),
    detached: true,
    format: 'binary',
    date: now,
    config: OPENPGP_CONFIG,
  });
  return signature as Uint8Array;
};
