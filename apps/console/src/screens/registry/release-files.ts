/* Reads the names and the checksums of the files of a release, as GoReleaser writes them. The server checks everything. */

export type ReleaseArchive = {
  readonly file: File;
  readonly os: string;
  readonly arch: string;
  /** SHA-256 in hexadecimal. */
  readonly shasum: string;
};

export type Release = {
  readonly name: string;
  readonly version: string;
  readonly protocols: readonly string[];
  readonly checksums: File;
  readonly signature: File;
  readonly archives: readonly ReleaseArchive[];
};

/** What is wrong with the files, in words for the person. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

const CHECKSUMS = /^terraform-provider-(?<name>.+)_(?<version>\d[^_]*)_SHA256SUMS$/;
const DEFAULT_PROTOCOLS = ['5.0'];

const parseChecksums = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [shasum, filename] = line.trim().split(/\s+\*?/);
      return shasum && filename ? [[filename, shasum] as const] : [];
    }),
  );

/** Reads `metadata.protocol_versions` of the manifest of a provider. */
const readProtocols = async (manifest: File | undefined): Promise<readonly string[]> => {
  if (!manifest) return DEFAULT_PROTOCOLS;
  try {
    const { metadata } = JSON.parse(await manifest.text()) as { metadata?: { protocol_versions?: readonly string[] } };
    return metadata?.protocol_versions ?? DEFAULT_PROTOCOLS;
  } catch {
    throw new ReleaseError(`${manifest.name} is not valid JSON.`);
  }
};

/** Returns the release of these files. Throws a ReleaseError that names what is missing. */
export const readRelease = async (files: readonly File[]): Promise<Release> => {
  const byName = new Map(files.map((file) => [file.name, file]));
  const checksums = files.find(({ name }) => CHECKSUMS.test(name));
  const { name, version } = CHECKSUMS.exec(checksums?.name ?? '')?.groups ?? {};
  if (!checksums || name === undefined || version === undefined) {
    throw new ReleaseError('The file terraform-provider-NAME_VERSION_SHA256SUMS is missing.');
  }
  const signature = byName.get(`${checksums.name}.sig`);
  if (!signature) throw new ReleaseError(`The signature ${checksums.name}.sig is missing.`);
  const prefix = `terraform-provider-${name}_${version}_`;
  const sums = parseChecksums(await checksums.text());
  const listed = [...sums].filter(([filename]) => filename.startsWith(prefix) && filename.endsWith('.zip'));
  if (listed.length === 0) throw new ReleaseError(`${checksums.name} lists no zip of this version.`);
  const archives = listed.map(([filename, shasum]) => {
    const file = byName.get(filename);
    if (!file) throw new ReleaseError(`${filename} is missing. ${checksums.name} lists it.`);
    const [os = '', arch = ''] = filename.slice(prefix.length, -'.zip'.length).split('_');
    return { file, os, arch, shasum };
  });
  const protocols = await readProtocols(byName.get(`${prefix}manifest.json`));
  return { name, version, protocols, checksums, signature, archives };
};
