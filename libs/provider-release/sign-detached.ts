import { createMessage, decryptKey, readPrivateKeys, sign, type Key, type PrivateKey, type Subkey } from 'openpgp';
import { unprocessable } from '#kernel';
import { OPENPGP_CONFIG, checkUsable } from './key-rules.js';
import { getKeyId, findSigningKey } from './signing-key.js';

export type SigningInput = {
  readonly content: Uint8Array;
  /** An ASCII-armored private key: `gpg --armor --export-secret-keys`, or only the subkey that signs. */
  readonly armor: string;
  readonly passphrase?: string | undefined;
  readonly now: Date;
};

/** Nothing of the key is in any text. */
const parsePrivateKey = async (armor: string): Promise<PrivateKey> => {
  const [key, ...others] = await readPrivateKeys({ armoredKeys: armor, config: OPENPGP_CONFIG }).catch(() => []);
  if (!key) {
    throw unprocessable('The key is not an ASCII-armored private key, as gpg --armor --export-secret-keys prints it');
  }
  if (others.length > 0) throw unprocessable('The file holds several private keys; one is needed');
  checkUsable(key.keyPacket, { name: 'The private key' });
  return key;
};

/** An exported subkey brings along the key that it belongs to, without its secret. */
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

/** Signs as `gpg --detach-sign` does: the binary signature that clients ask for. */
export const signDetached = async ({ content, armor, passphrase, now }: SigningInput): Promise<Uint8Array> => {
  const key = await parsePrivateKey(armor);
  const part = await findSigningKey(key, now, hasSecret);
  const message = await createMessage({ binary: content });
  // What the types say of the answer hangs on those of streams, which are not used here.
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
