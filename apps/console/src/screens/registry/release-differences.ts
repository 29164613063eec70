import { ApiError, requireAnswer } from '../../api/api-error.js';
import type { ProviderPlatform, ProviderVersion } from '../../api/registry.js';
import type { Release, ReleaseArchive } from './release-files.js';

/* Compares a release with a version that exists already. */

export type StoredPlatforms = ReadonlyMap<ReleaseArchive, ProviderPlatform>;

type ComparedRelease = { readonly release: Release; readonly keyId: string; readonly signal: AbortSignal };

const readStoredFile = async (link: string, signal: AbortSignal): Promise<Uint8Array> => {
  const { pathname, search } = new URL(link);
  const response = await requireAnswer(fetch(pathname + search, { signal }));
  if (!response.ok) throw new ApiError(response.status, [], null);
  return new Uint8Array(await response.arrayBuffer());
};

/** Returns whether the server has a file behind the link, and it has other bytes. Without a link, it has none yet. */
const differsFrom = async (link: string | undefined, file: File, signal: AbortSignal): Promise<boolean> => {
  if (link === undefined) return false;
  const [stored, chosen] = await Promise.all([readStoredFile(link, signal), file.arrayBuffer()]);
  const bytes = new Uint8Array(chosen);
  return stored.length !== bytes.length || stored.some((byte, index) => byte !== bytes[index]);
};

/** Returns what the version has and the release has not: the names of files, the key and the protocols. */
export const listDifferences = async (
  { release, keyId, signal }: ComparedRelease,
  { attributes, links }: ProviderVersion,
  platforms: StoredPlatforms,
): Promise<readonly string[]> => {
  const { checksums, signature, protocols } = release;
  const hasOtherChecksums = await differsFrom(links['shasums-download'], checksums, signal);
  const hasOtherSignature = await differsFrom(links['shasums-sig-download'], signature, signal);
  const archives = [...platforms].flatMap(([{ file, shasum }, { attributes: platform }]) =>
    platform.filename === file.name && platform.shasum.toLowerCase() === shasum.toLowerCase() ? [] : [file.name],
  );
  const isOtherKey = attributes['key-id'].toLowerCase() !== keyId.toLowerCase();
  const hasOtherProtocols = attributes.protocols.toSorted().join() !== [...protocols].toSorted().join();
  return [
    ...(isOtherKey ? [`the key, which is ${attributes['key-id']}`] : []),
    ...(hasOtherProtocols ? [`the protocols, which are ${attributes.protocols.join(' and ')}`] : []),
    ...(hasOtherChecksums ? [checksums.name] : []),
    ...archives,
    ...(hasOtherSignature ? [signature.name] : []),
  ];
};
