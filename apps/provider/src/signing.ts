import { unprocessable } from '#kernel';
import { readPublicKey, signDetached } from '#provider-release';
import { readOptionFile } from './option-file.js';

/** The key that a release is signed with, as far as it is on this machine. */
export type LocalKey = {
  /** The public half, ASCII-armored. */
  readonly armor: string;
  readonly keyId: string;
  /** Null where only the public half is here. */
  readonly sign: ((content: Uint8Array) => Promise<Uint8Array>) | null;
};

export type KeyFiles = {
  /** A private key. */
  readonly key?: string | undefined;
  readonly publicKey?: string | undefined;
  readonly passphrase?: string | undefined;
};

const extractPublicKey = async (armoredKeys: string): Promise<string> => {
  const { readPrivateKeys } = await import('openpgp');
  const [key] = await readPrivateKeys({ armoredKeys }).catch(() => []);
  // What is wrong with it otherwise, signing tells in better words.
  if (!key)
    throw unprocessable('--key: this is no ASCII-armored private key, as gpg --armor --export-secret-keys prints it');
  return key.toPublic().armor();
};

/** Null where no key is given: then it must be one that the organization has, and the release must be signed already. */
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
