import { formatPlatform } from '#registry/provider-release/rules';
import type { PlatformResource, VersionResource } from './documents.js';
import type { PreparedRelease } from './prepare.js';

/** The parts of a version that the server already has. */
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
      ? [`the published version expects the GPG key ${key}, this release is signed by ${keyId}`]
      : []),
    ...(there !== undefined && there !== here
      ? [`the published version has the protocols ${there}, this release has ${here}`]
      : []),
  ];
};

const listPlatformDifferences = (
  platforms: readonly PlatformResource[],
  { archives }: PreparedRelease,
): readonly string[] =>
  platforms.flatMap(({ attributes: its }) => {
    const ours = archives.find((archive) => formatPlatform(archive) === formatPlatform(its));
    if (!ours) return [`the published version has the platform ${formatPlatform(its)}, this release does not`];
    if (its.filename !== ours.filename)
      return [`the published file for ${formatPlatform(its)} is ${its.filename}, this release has ${ours.filename}`];
    const isSame = its.shasum.toLowerCase() === ours.sha256;
    return isSame ? [] : [`the published ${its.filename} has checksum ${its.shasum}, this one has ${ours.sha256}`];
  });

/**
 * Returns how the published version differs from this release. An incomplete version without differences can be
 * completed.
 */
export const listDifferences = (
  { version, platforms, checksums }: PublishedState,
  release: PreparedRelease,
  keyId: string,
): readonly string[] => [
  ...(version ? listVersionDifferences(version, release, keyId) : []),
  ...listPlatformDifferences(platforms, release),
  ...(checksums && !checksums.equals(release.checksums) ? ['the published SHA256SUMS differs'] : []),
];
