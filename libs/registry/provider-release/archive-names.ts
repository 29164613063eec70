import { unprocessable } from '#platform/kernel';
import { checkSourceName, checkProviderVersion, formatPlatform } from './rules.js';

export type ArchiveName = {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
};

/** Name and version of the provider, which appear in every file name of a release. */
type ReleaseName = Pick<ArchiveName, 'name' | 'version'>;

const NAME_SEGMENT = /^[a-z0-9]+$/;
const FORM = 'terraform-provider-NAME_VERSION_OS_ARCH.zip';
// No part contains an underscore: provider names and versions cannot, and Go knows no operating system or processor
// with one.
const ARCHIVE = /^terraform-provider-(?<name>[^_]+)_(?<version>[^_]+)_(?<os>[^_]+)_(?<arch>[^_]+)\.zip$/;

const formatStem = ({ name, version }: ReleaseName): string => `terraform-provider-${name}_${version}`;

/** Returns the file name that GoReleaser and the vendor's guide to publishing providers use. */
export const formatArchiveName = (archive: ArchiveName): string =>
  `${formatStem(archive)}_${formatPlatform(archive)}.zip`;

export const formatChecksumsName = (release: ReleaseName): string => `${formatStem(release)}_SHA256SUMS`;

export const formatSignatureName = (release: ReleaseName): string => `${formatChecksumsName(release)}.sig`;

/** Returns the name of the manifest in a release. In a repository it is `terraform-registry-manifest.json`. */
export const formatManifestName = (release: ReleaseName): string => `${formatStem(release)}_manifest.json`;

/** Parses the file name of a zip. Rejects every other name with the expected form. */
export const parseArchiveName = (filename: string): ArchiveName => {
  const { name = '', version = '', os = '', arch = '' } = ARCHIVE.exec(filename)?.groups ?? {};
  if (!NAME_SEGMENT.test(os) || !NAME_SEGMENT.test(arch))
    throw unprocessable(`${filename} does not have the form ${FORM}`);
  checkSourceName(name);
  checkProviderVersion(version);
  return { name, version, os, arch };
};
