import { Refusal } from '#kernel';
import { formatChecksumsName, formatPlatform, formatSignatureName, verifyDetached } from '#provider-release';
import { createRefusedError } from './command-error.js';
import { TransientError } from './http-client.js';
import type { PreparedRelease } from './prepare.js';
import type { ProviderRegistryClient } from './registry-client.js';

/** Whether the server calls the version whole: in a word, as Cadastre does, or flag by flag. */
const requireComplete = async (registry: ProviderRegistryClient, { version }: PreparedRelease): Promise<void> => {
  const found = await registry.version(version);
  if (!found) throw createRefusedError(`version ${version} has been deleted meanwhile`);
  const { attributes } = found;
  if (attributes.usable === true) return;
  const platforms = await registry.platforms(version);
  const missing = attributes.missing ?? [
    ...(attributes['shasums-uploaded'] ? [] : ['SHA256SUMS']),
    ...(attributes['shasums-sig-uploaded'] ? [] : ['SHA256SUMS.sig']),
    ...platforms.flatMap((one) => (one.attributes['provider-binary-uploaded'] ? [] : [one.attributes.filename])),
  ];
  if (missing.length > 0)
    throw createRefusedError(`version ${version} is not usable: it still wants ${missing.join(', ')}`);
};

/** Whether clients are offered it for each of its platforms. */
const requireListed = (registry: ProviderRegistryClient, { version, archives }: PreparedRelease): Promise<void> =>
  registry.patiently(async () => {
    const offered = await registry.offered(version);
    const lacking = archives.map(formatPlatform).filter((name) => !offered?.includes(name));
    if (lacking.length > 0)
      throw new TransientError(`clients are not offered version ${version} for ${lacking.join(', ')} yet`);
  });

/** Goes the way of a client, up to the zip: what it would be given for its system must be what lies here, and prove true. */
const requireInstallable = async (
  registry: ProviderRegistryClient,
  release: PreparedRelease,
  keyId: string,
  now: () => Date,
): Promise<void> => {
  const { version, archives, checksums } = release;
  const differs = (what: string) =>
    createRefusedError(`clients are given another ${what} of version ${version} than this release has`);
  const [archive] = archives;
  const given = archive && (await registry.package(version, archive));
  if (!given) throw createRefusedError(`clients find no package of version ${version}`);
  if (given.filename !== archive.filename || given.shasum.toLowerCase() !== archive.sha256) throw differs('zip');
  const content = await registry.download(formatChecksumsName(release), given.shasums_url);
  if (!content.equals(checksums)) throw differs(formatChecksumsName(release));
  const signature = await registry.download(formatSignatureName(release), given.shasums_signature_url);
  const key = given.signing_keys.gpg_public_keys.find((one) => one.key_id.toUpperCase() === keyId);
  if (!key) throw createRefusedError(`clients are not given the GPG key ${keyId}`);
  try {
    await verifyDetached({ armor: key.ascii_armor, content, signature, now: now() });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw createRefusedError(`${formatSignatureName(release)} as clients are given it: ${error.message}`);
  }
};

/** Proves that the release can be installed from the server as it lies here. */
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
