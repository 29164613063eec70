import { Refusal } from '#platform/kernel';
import { verifyDetached } from '#registry/provider-release';
import { createRefusedError } from './command-error.js';
import type { PreparedRelease } from './prepare.js';
import type { ProviderRegistryClient } from './registry-client.js';

/** The GPG key that clients get to verify the release. */
export type ReleaseKey = {
  readonly keyId: string;
  readonly armor: string;
  /** Whether the organization has the key already. */
  readonly isRegistered: boolean;
};

/** Returns why the signature is not valid for this key. Null if it is valid. */
const findSignatureFlaw = async (
  armor: string,
  { checksums, signature }: PreparedRelease,
  now: () => Date,
): Promise<string | null> => {
  try {
    await verifyDetached({ armor, content: checksums, signature, now: now() });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
};

const EXPORT = 'gpg --armor --export prints it';

/**
 * Returns the given key, or the organization's copy of it, because clients get that copy. Without a given key, returns
 * the key of the organization that made the signature.
 */
export const findReleaseKey = async (
  registry: ProviderRegistryClient,
  release: PreparedRelease,
  keyId: string | undefined,
  now: () => Date,
): Promise<ReleaseKey> => {
  const { organization } = registry;
  if (release.key) {
    const remoteKey = await registry.key(release.key.keyId);
    if (!remoteKey) return { ...release.key, isRegistered: false };
    const armor = remoteKey['ascii-armor'];
    const flaw = await findSignatureFlaw(armor, release, now);
    // The organization's copy is older than the key, so the key is sent again, which renews the copy.
    return flaw === null
      ? { keyId: release.key.keyId, armor, isRegistered: true }
      : { ...release.key, isRegistered: false };
  }
  const keys = (await registry.keys()).filter((key) => keyId === undefined || key['key-id'] === keyId.toUpperCase());
  const flaws: string[] = [];
  for (const { 'key-id': id, 'ascii-armor': armor } of keys) {
    const flaw = await findSignatureFlaw(armor, release, now);
    if (flaw === null) return { keyId: id, armor, isRegistered: true };
    flaws.push(flaw);
  }
  const lacking = `${organization} has no GPG key${keyId === undefined ? '' : ` ${keyId}`}`;
  const why = flaws.length > 0 ? `No GPG key of ${organization} matches: ${flaws.join('; ')}` : lacking;
  throw createRefusedError(`${why}. Give the key of the signature with --public-key FILE (${EXPORT})`);
};
