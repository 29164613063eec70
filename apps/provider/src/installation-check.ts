import { Refusal } from '#platform/kernel';
import { formatChecksumsName, formatPlatform, formatSignatureName, verifyDetached } from '#registry/provider-release';
import { createRefusedError } from './command-error.js';
import { TransientError } from './http-client.js';
import type { PreparedRelease } from './prepare.js';
import type { ProviderRegistryClient } from './registry-client.js';

/** Throws if the version is incomplete, by the server's `usable` or by the flags of its files. */
const requireComplete = async (registry: ProviderRegistryClient, { version }: PreparedRelease): Promise<void> => {
  const versionResource = await registry.version(version);
  if (!versionResource) throw createRefusedError(`version ${version} has been deleted meanwhile`);
  const { attributes } = versionResource;
  if (attributes.usable === true) return;
  const platforms = await registry.platforms(version);
  const missing = attributes.missing ?? [
    ...(attributes['shasums-uploaded'] ? [] : ['SHA256SUMS']),
    ...(attributes['shasums-sig-uploaded'] ? [] : ['SHA256SUMS.sig']),
    ...platforms.flatMap((one) => (one.attributes['provider-binary-uploaded'] ? [] : [one.attributes.filename])),
  ];
  if (missing.length > 0)
    throw createRefusedError(`version ${version} is not complete; missing: ${missing.join(', ')}`);
};

/** Throws if the server does not list all platforms of the version for clients. */
const requireListed = (registry: ProviderRegistryClient, { version, archives }: PreparedRelease): Promise<void> =>
  registry.patiently(async () => {
    const offered = await registry.offered(version);
    const lacking = archives.map(formatPlatform).filter((name) => !offered?.includes(name));
    if (lacking.length > 0)
      throw new TransientError(`the server does not list version ${version} for ${lacking.join(', ')} yet`);
  });

/**
 * Downloads as a client would, except the zip. The package must match this release, and its signature must be valid.
 */
const requireInstallable = async (
  registry: ProviderRegistryClient,
  release: PreparedRelease,
  keyId: string,
  now: () => Date,
): Promise<void> => {
  const { version, archives, checksums } = release;
  const differs = (what: string) =>
    createRefusedError(`the server returns another ${what} of version ${version} than this release has`);
  const [archive] = archives;
  const clientPackage = archive && (await registry.package(version, archive));
  if (!clientPackage) throw createRefusedError(`the server returns no package of version ${version}`);
  if (clientPackage.filename !== archive.filename || clientPackage.shasum.toLowerCase() !== archive.sha256)
    throw differs('zip');
  const content = await registry.download(formatChecksumsName(release), clientPackage.shasums_url);
  if (!content.equals(checksums)) throw differs(formatChecksumsName(release));
  const signature = await registry.download(formatSignatureName(release), clientPackage.shasums_signature_url);
  const key = clientPackage.signing_keys.gpg_public_keys.find((one) => one.key_id.toUpperCase() === keyId);
  if (!key) throw createRefusedError(`the server does not return the GPG key ${keyId}`);
  try {
    await verifyDetached({ armor: key.ascii_armor, content, signature, now: now() });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw createRefusedError(`${formatSignatureName(release)} from the server: ${error.message}`);
  }
};

/** Throws unless the release can be installed from the server unchanged. */
export const verifyInstallable = async (
  registry: ProviderRegistryClient,
  release: PreparedRelease,
  keyId: string,
  now: () => Date,
): Promise<void> => {
  await requireComplete(registry, release);
  await requireListed(registry, release);
  await requireInstallable(registry, release, keyId, now);
};
