import { formatPlatform } from '#provider-release/rules';
import type { PlatformResource, VersionResource } from './documents.js';
import type { PreparedRelease } from './prepare.js';

/** What the server has of a version already. */
export type PublishedState = {
  readonly version: VersionResource | null;
  readonly platforms: readonly PlatformResource[];
  readonly checksums: Buffer | null;
};

const listVersionDifferences = (
  { attributes }: VersionResource,
  release: PreparedRelease,
  keyId: string,
): readonly string[] => {
  const { 'key-id': key, protocols } = attributes;
  const [here, there] = [release.protocols.join(', '), protocols?.toSorted().join(', ')];
  return [
    ...(key && key.toUpperCase() !== keyId
      ? [`it is there to be signed by key ${key}, this release is by ${keyId}`]
      : []),
    ...(there !== undefined && there !== here
      ? [`it is there with the protocols ${there}, this release has ${here}`]
      : []),
  ];
};

const listPlatformDifferences = (
  platforms: readonly PlatformResource[],
  { archives }: PreparedRelease,
): readonly string[] =>
  platforms.flatMap(({ attributes: its }) => {
    const ours = archives.find((archive) => formatPlatform(archive) === formatPlatform(its));
    if (!ours) return [`it has the platform ${formatPlatform(its)}, which this release has not`];
    if (its.filename !== ours.filename)
      return [`${formatPlatform(its)} is there as ${its.filename}, not ${ours.filename}`];
    const isSame = its.shasum.toLowerCase() === ours.sha256;
    return isSame ? [] : [`${its.filename} is there with checksum ${its.shasum}, this one has ${ours.sha256}`];
  });

/** In what a version that is there is another than this release. One that is the same, as far as it has come, is gone on with. */
export const listDifferences = (
  { version, platforms, checksums }: PublishedState,
  release: PreparedRelease,
  keyId: string,
): readonly string[] => [
  ...(version ? listVersionDifferences(version, release, keyId) : []),
  ...listPlatformDifferences(platforms, release),
  ...(checksums && !checksums.equals(release.checksums) ? ['its SHA256SUMS is there, and differs'] : []),
];
