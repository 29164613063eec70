import { unprocessable } from '#platform/kernel';
import { readPublicKey, signDetached } from '#registry/provider-release';
import { readOptionFile } from './option-file.js';

/** The key of the release, as far as it is on this machine. */
export type LocalKey = {
  /** The public key, ASCII-armored. */
  readonly armor: string;
  readonly keyId: string;
  /** Null if only the public key is here. */
  readonly sign: ((content: Uint8Array) => Promise<Uint8Array>) | null;
};

export type KeyFiles = {
  /** Path of a private key. */
  readonly key?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly passphrase?: string | undefined;
};

const extractPublicKey = async (armoredKeys: string): Promise<string> => {
  const { readPrivateKeys } = await import('openpgp');
  const [key] = await readPrivateKeys({ armoredKeys }).catch(() => []);
  // Other faults of the key are reported when it signs.
  if (!key)
    throw unprocessable('--key: must be an ASCII-armored private key, as gpg --armor --export-secret-keys prints it');
  return key.toPublic().armor();
};

/** Returns null if no key is given. Then the release must be signed already, with a key of the organization. */
export const readLocalKey = async (files: KeyFiles, now: Date): Promise<LocalKey | null> => {
  if (files.key !== undefined) {
    const privateKey = await readOptionFile(files.key, '--key');
    const armor = await extractPublicKey(privateKey);
    const { keyId } = await readPublicKey(armor, now);
    const { passphrase } = files;
    return { armor, keyId, sign: (content) => signDetached({ content, armor: privateKey, passphrase, now }) };
  }
  if (files.publicKey === undefined) return null;
  const armor = await readOptionFile(files.publicKey, '--public-key');
  const { keyId } = await readPublicKey(armor, now);
  return { armor, keyId, sign: null };
};
