import { Refused } from '#kernel';
import { nameOfChecksums, nameOfPlatform, nameOfSignature, verifyDetached } from '#provider-release';
import { refused } from './failure.js';
import { Passing } from './http.js';
import type { Release } from './prepare.js';
import type { Registry } from './registry.js';

/** Whether the server calls the version whole: in a word, as Cadastre does, or flag by flag. */
const demandWhole = async (registry: Registry, { version }: Release): Promise<void> => {
  const found = await registry.version(version);
  if (!found) throw refused(`version ${version} has been deleted meanwhile`);
  const { attributes } = found;
  if (attributes.usable === true) return;
  const platforms = await registry.platforms(version);
  const missing = attributes.missing ?? [
    ...(attributes['shasums-uploaded'] ? [] : ['SHA256SUMS']),
    ...(attributes['shasums-sig-uploaded'] ? [] : ['SHA256SUMS.sig']),
    ...platforms.flatMap((one) => (one.attributes['provider-binary-uploaded'] ? [] : [one.attributes.filename])),
  ];
  if (missing.length > 0) throw refused(`version ${version} is not usable: it still wants ${missing.join(', ')}`);
};

/** Whether clients are offered it for each of its platforms. */
const demandOffered = (registry: Registry, { version, archives }: Release): Promise<void> =>
  registry.patiently(async () => {
    const offered = await registry.offered(version);
    const lacking = archives.map(nameOfPlatform).filter((name) => !offered?.includes(name));
    if (lacking.length > 0)
      throw new Passing(`clients are not offered version ${version} for ${lacking.join(', ')} yet`);
  });

/** Goes the way of a client, up to the zip: what it would be given for its system must be what lies here, and prove true. */
const demandInstallable = async (
  registry: Registry,
  release: Release,
  keyId: string,
  now: () => Date,
): Promise<void> => {
  const { version, archives, checksums } = release;
  const differs = (what: string) =>
    refused(`clients are given another ${what} of version ${version} than this release has`);
  const [archive] = archives;
  const given = archive && (await registry.package(version, archive));
  if (!given) throw refused(`clients find no package of version ${version}`);
  if (given.filename !== archive.filename || given.shasum.toLowerCase() !== archive.sha256) throw differs('zip');
  const content = await registry.download(nameOfChecksums(release), given.shasums_url);
  if (!content.equals(checksums)) throw differs(nameOfChecksums(release));
  const signature = await registry.download(nameOfSignature(release), given.shasums_signature_url);
  const key = given.signing_keys.gpg_public_keys.find((one) => one.key_id.toUpperCase() === keyId);
  if (!key) throw refused(`clients are not given the GPG key ${keyId}`);
  try {
    await verifyDetached({ armor: key.ascii_armor, content, signature, now: now() });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw refused(`${nameOfSignature(release)} as clients are given it: ${error.message}`);
  }
};

/** Proves that the release can be installed from the server as it lies here. */
export const prove = async (registry: Registry, release: Release, keyId: string, now: () => Date): Promise<void> => {
  await demandWhole(registry, release);
  await demandOffered(registry, release);
  await demandInstallable(registry, release, keyId, now);
};
