import { unprocessable } from '#kernel';
import { checkSourceName, checkProviderVersion, formatPlatform } from './rules.js';

/** A platform's zip in a release, as its name says. */
export type ArchiveName = {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
};

/** Which release the other files belong to. */
export type ReleaseName = Pick<ArchiveName, 'name' | 'version'>;

const NAME_SEGMENT = /^[a-z0-9]+$/;
const FORM = 'terraform-provider-NAME_VERSION_OS_ARCH.zip';
// No part has an underscore in it: a name and a version cannot, and no system or processor that Go knows has one.
const ARCHIVE = /^terraform-provider-(?<name>[^_]+)_(?<version>[^_]+)_(?<os>[^_]+)_(?<arch>[^_]+)\.zip$/;

const formatStem = ({ name, version }: ReleaseName): string => `terraform-provider-${name}_${version}`;

/** As GoReleaser and the vendor's guide to publishing providers name it. */
export const formatArchiveName = (archive: ArchiveName): string =>
  `${formatStem(archive)}_${formatPlatform(archive)}.zip`;

export const formatChecksumsName = (release: ReleaseName): string => `${formatStem(release)}_SHA256SUMS`;

export const formatSignatureName = (release: ReleaseName): string => `${formatChecksumsName(release)}.sig`;

/** How a release carries the manifest. In a repository it is `terraform-registry-manifest.json`. */
export const formatManifestName = (release: ReleaseName): string => `${formatStem(release)}_manifest.json`;

/** The way back: what a zip is for. Refuses every other name, and says which form was expected. */
export const parseArchiveName = (filename: string): ArchiveName => {
  const { name = '', version = '', os = '', arch = '' } = ARCHIVE.exec(filename)?.groups ?? {};
  if (!NAME_SEGMENT.test(os) || !NAME_SEGMENT.test(arch)) throw unprocessable(`${filename} is not named as in ${FORM}`);
  checkSourceName(name);
  checkProviderVersion(version);
  return { name, version, os, arch };
};
