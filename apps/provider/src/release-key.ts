import { Refusal } from '#kernel';
import { verifyDetached } from '#provider-release';
import { createRefusedError } from './command-error.js';
import type { PreparedRelease } from './prepare.js';
import type { ProviderRegistryClient } from './registry-client.js';

/** The key as clients are given it to prove the release with. */
export type ReleaseKey = {
  readonly keyId: string;
  readonly armor: string;
  /** Whether the organization has it already. */
  readonly isRegistered: boolean;
};

/** Why the signature is not this key's; null where it is. */
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
 * The key given, and the organization's own copy of it where there is one: that is what clients get. Without one, the
 * key of the organization that the signature was made by.
 */
export const findReleaseKey = async (
  registry: ProviderRegistryClient,
  release: PreparedRelease,
  keyId: string | undefined,
  now: () => Date,
): Promise<ReleaseKey> => {
  const { organization } = registry;
  if (release.key) {
    const found = await registry.key(release.key.keyId);
    if (!found) return { ...release.key, isRegistered: false };
    const armor = found['ascii-armor'];
    const flaw = await findSignatureFlaw(armor, release, now);
    if (flaw === null) return { keyId: release.key.keyId, armor, isRegistered: true };
    throw createRefusedError(
      `${organization} has an older copy of the GPG key ${release.key.keyId}; replace it. ${flaw}`,
    );
  }
  const keys = (await registry.keys()).filter((key) => keyId === undefined || key['key-id'] === keyId.toUpperCase());
  const flaws: string[] = [];
  for (const { 'key-id': id, 'ascii-armor': armor } of keys) {
    const flaw = await findSignatureFlaw(armor, release, now);
    if (flaw === null) return { keyId: id, armor, isRegistered: true };
    flaws.push(flaw);
  }
  const lacking = `${organization} has no GPG key${keyId === undefined ? '' : ` ${keyId}`}`;
  const why = flaws.length > 0 ? `No GPG key of ${organization} fits: ${flaws.join('; ')}` : lacking;
  throw createRefusedError(`${why}. Give the one that the release is signed with: --public-key FILE (${EXPORT})`);
};
