import { findToolOfVersion } from './tool-of-version.js';
import type { ToolArchive } from './tool-archives.js';

/** An archive as its publisher offers it. Executors take the checksum from the list that the publisher signs. */
type PublisherArchive = Omit<ToolArchive, 'sha'> & { readonly sha: null };

/** From 1.0 on, each release of both tools has an archive for Linux on arm64. */
const listArchitectures = (version: string): readonly string[] =>
  version.startsWith('0.') ? ['amd64'] : ['amd64', 'arm64'];

const buildUrl = (version: string, platform: string): string =>
  findToolOfVersion(version) === 'tofu'
    ? `https://github.com/opentofu/opentofu/releases/download/v${version}/tofu_${version}_${platform}.zip`
    : `https://releases.hashicorp.com/terraform/${version}/terraform_${version}_${platform}.zip`;

/** Returns the archives of a release of Terraform or OpenTofu for Linux. */
export const listPublisherArchives = (version: string): readonly PublisherArchive[] =>
  listArchitectures(version).map((arch) => ({ url: buildUrl(version, `linux_${arch}`), sha: null, os: 'linux', arch }));
