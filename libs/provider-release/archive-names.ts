import { unprocessable } from '#kernel';
import { checkSourceName, checkVersion, nameOfPlatform } from './rules.js';

/** A platform's zip in a release, as its name says. */
export type ArchiveName = {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
};

/** Which release the other files belong to. */
export type Release = Pick<ArchiveName, 'name' | 'version'>;

const PART = /^[a-z0-9]+$/;
const FORM = 'terraform-provider-NAME_VERSION_OS_ARCH.zip';
// No part has an underscore in it: a name and a version cannot, and no system or processor that Go knows has one.
const ARCHIVE = /^terraform-provider-(?<name>[^_]+)_(?<version>[^_]+)_(?<os>[^_]+)_(?<arch>[^_]+)\.zip$/;

const stemOf = ({ name, version }: Release): string => `terraform-provider-${name}_${version}`;

/** As GoReleaser and the vendor's guide to publishing providers name it. */
export const nameOfArchive = (archive: ArchiveName): string => `${stemOf(archive)}_${nameOfPlatform(archive)}.zip`;

export const nameOfChecksums = (release: Release): string => `${stemOf(release)}_SHA256SUMS`;

export const nameOfSignature = (release: Release): string => `${nameOfChecksums(release)}.sig`;

/** How a release carries the manifest. In a repository it is `terraform-registry-manifest.json`. */
export const nameOfManifest = (release: Release): string => `${stemOf(release)}_manifest.json`;

/** The way back: what a zip is for. Refuses every other name, and says which form was expected. */
export const parseArchiveName = (filename: string): ArchiveName => {
  const { name = '', version = '', os = '', arch = '' } = ARCHIVE.exec(filename)?.groups ?? {};
  if (!PART.test(os) || !PART.test(arch)) throw unprocessable(`${filename} is not named as in ${FORM}`);
  checkSourceName(name);
  checkVersion(version);
  return { name, version, os, arch };
};
