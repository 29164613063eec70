import { nameOfPlatform } from '#provider-release/rules';
import type { PlatformFound, VersionFound } from './documents.js';
import type { Release } from './prepare.js';

/** What the server has of a version already. */
export type Found = {
  readonly version: VersionFound | null;
  readonly platforms: readonly PlatformFound[];
  readonly checksums: Buffer | null;
};

const ofVersion = ({ attributes }: VersionFound, release: Release, keyId: string): readonly string[] => {
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

const ofPlatforms = (platforms: readonly PlatformFound[], { archives }: Release): readonly string[] =>
  platforms.flatMap(({ attributes: its }) => {
    const ours = archives.find((archive) => nameOfPlatform(archive) === nameOfPlatform(its));
    if (!ours) return [`it has the platform ${nameOfPlatform(its)}, which this release has not`];
    if (its.filename !== ours.filename)
      return [`${nameOfPlatform(its)} is there as ${its.filename}, not ${ours.filename}`];
    const isSame = its.shasum.toLowerCase() === ours.sha256;
    return isSame ? [] : [`${its.filename} is there with checksum ${its.shasum}, this one has ${ours.sha256}`];
  });

/** In what a version that is there is another than this release. One that is the same, as far as it has come, is gone on with. */
export const differencesBetween = (
  { version, platforms, checksums }: Found,
  release: Release,
  keyId: string,
): readonly string[] => [
  ...(version ? ofVersion(version, release, keyId) : []),
  ...ofPlatforms(platforms, release),
  ...(checksums && !checksums.equals(release.checksums) ? ['its SHA256SUMS is there, and differs'] : []),
];
