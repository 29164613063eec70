import { unprocessable } from '#platform/kernel';
import { formatSignatureName, verifyDetached, type Protocol } from '#registry/provider-release';
import { ProblemCollector } from './problem-collector.js';
import { readReleaseFolder, type ReleaseFolder, type ReleaseSelection } from './release-folder.js';
import { readLocalKey, type KeyFiles, type LocalKey } from './signing.js';

/** A release that passed all checks on this machine: complete, consistent and signed. */
export type PreparedRelease = Omit<ReleaseFolder, 'signature'> & {
  readonly signature: Uint8Array;
  /** Null if only a key of the organization can verify the signature. */
  readonly key: LocalKey | null;
};

export type PrepareOptions = ReleaseSelection &
  KeyFiles & {
    readonly folder: string;
    readonly keyId?: string | undefined;
    readonly protocols?: readonly Protocol[] | undefined;
  };

/**
 * Returns the signature of the folder, or creates one with the key. Verifies it if the key is known. Throws if there is
 * neither.
 */
const findOrCreateSignature = async (release: ReleaseFolder, key: LocalKey | null, now: Date): Promise<Uint8Array> => {
  const { checksums: content } = release;
  const signature = release.signature ?? (await key?.sign?.(content));
  if (!signature) {
    const how = key ? 'the private key with --key instead of --public-key' : 'a private key with --key FILE';
    throw unprocessable(`There is no ${formatSignatureName(release)} in the folder. Give ${how} to create it`);
  }
  if (key) await verifyDetached({ armor: key.armor, content, signature, now });
  return signature;
};

const checkKeyId = (key: LocalKey | null | undefined, keyId: string | undefined): void => {
  if (!key || keyId === undefined || keyId.toUpperCase() === key.keyId) return;
  throw unprocessable(`--key-id: must be ${key.keyId}, the id of the given key, got ${keyId}`);
};

/** Reads the release folder and the signing key. Throws one error with all problems. Sends nothing. */
export const prepareRelease = async (options: PrepareOptions, now: Date): Promise<PreparedRelease> => {
  const problems = new ProblemCollector();
  const key = await problems.collect(() => readLocalKey(options, now));
  await problems.collect(() => checkKeyId(key, options.keyId));
  const folder = await readReleaseFolder(options.folder, options, problems);
  // Without a valid key the signature cannot be checked.
  const signature =
    folder && key !== undefined ? await problems.collect(() => findOrCreateSignature(folder, key, now)) : undefined;
  problems.throwIfAny();
  if (!folder || !signature || key === undefined) throw new Error('a missing part of the release was not reported');
  return { ...folder, signature, key };
};
