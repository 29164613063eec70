import { unprocessable } from '#kernel';
import { formatSignatureName, verifyDetached, type Protocol } from '#provider-release';
import { ProblemCollector } from './problem-collector.js';
import { readReleaseFolder, type ReleaseFolder, type ReleaseSelection } from './release-folder.js';
import { readLocalKey, type KeyFiles, type LocalKey } from './signing.js';

/** A release that is found good, as far as this machine can tell: whole, its own, and signed. */
export type PreparedRelease = Omit<ReleaseFolder, 'signature'> & {
  readonly signature: Uint8Array;
  /** Null where the signature can only be proved with a key of the organization. */
  readonly key: LocalKey | null;
};

export type PrepareOptions = ReleaseSelection &
  KeyFiles & {
    readonly folder: string;
    readonly keyId?: string | undefined;
    readonly protocols?: readonly Protocol[] | undefined;
  };

/** The signature that is there, or one that is made now; told where there is neither. Proved, where the key is known. */
const findOrCreateSignature = async (release: ReleaseFolder, key: LocalKey | null, now: Date): Promise<Uint8Array> => {
  const { checksums: content } = release;
  const signature = release.signature ?? (await key?.sign?.(content));
  if (!signature) {
    const how = key ? 'the private key with --key instead of --public-key' : 'a private key with --key FILE';
    throw unprocessable(`There is no ${formatSignatureName(release)} in the folder. Give ${how}, and it is made`);
  }
  if (key) await verifyDetached({ armor: key.armor, content, signature, now });
  return signature;
};

const checkKeyId = (key: LocalKey | null | undefined, keyId: string | undefined): void => {
  if (!key || keyId === undefined || keyId.toUpperCase() === key.keyId) return;
  throw unprocessable(`The key that is given is ${key.keyId}, not ${keyId} as --key-id says`);
};

/** Reads the folder and the key, and refuses with everything that is wrong. Sends nothing. */
export const prepareRelease = async (wanted: PrepareOptions, now: Date): Promise<PreparedRelease> => {
  const problems = new ProblemCollector();
  const key = await problems.collect(() => readLocalKey(wanted, now));
  await problems.collect(() => checkKeyId(key, wanted.keyId));
  const folder = await readReleaseFolder(wanted.folder, wanted, problems);
  // With a key that is no good there is nothing to say of signatures.
  const signature =
    folder && key !== undefined ? await problems.collect(() => findOrCreateSignature(folder, key, now)) : undefined;
  problems.throwIfAny();
  if (!folder || !signature || key === undefined) throw new Error('whatever is missing has been told');
  return { ...folder, signature, key };
};
