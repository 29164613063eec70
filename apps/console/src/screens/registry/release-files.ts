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
  readonly protocols: readonly ReleaseProtocol[];
  readonly checksums: File;
  readonly signature: File;
  readonly archives: readonly ReleaseArchive[];
  /** Names of files. The browser reads them, or the server receives them. */
  readonly usedFiles: readonly string[];
  /** Names of the other files that the person chose. */
  readonly unusedFiles: readonly string[];
};

/** The message names the mistake in the files, in words for the person. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

const CHECKSUMS = /^terraform-provider-(?<name>.+)_(?<version>\d[^_]*)_SHA256SUMS$/;
const PROTOCOLS = ['4.0', '5.0', '6.0'] as const;
type ReleaseProtocol = (typeof PROTOCOLS)[number];
const DEFAULT_PROTOCOLS: readonly ReleaseProtocol[] = ['5.0'];
const MANIFEST_FORM = '{"version":1,"metadata":{"protocol_versions":["5.0"]}}';

const parseChecksums = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [shasum, filename] = line.trim().split(/\s+\*?/);
      return shasum && filename ? [[filename, shasum] as const] : [];
    }),
  );

/** The browser cannot read a file that was changed or removed after the person has chosen it. */
const readText = async (file: File): Promise<string> => {
  try {
    return await file.text();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReleaseError(`${file.name} cannot be read. Choose the files again. The browser says: ${reason}`);
  }
};

const parseManifest = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new ReleaseError(`${name} is not valid JSON.`);
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Minor versions only add to a protocol, so 5.1 counts as 5.0. */
const parseProtocol = (name: string, value: unknown): ReleaseProtocol => {
  const major = typeof value === 'string' ? /^(\d+)(?:\.\d+)?$/.exec(value)?.[1] : undefined;
  const protocol = PROTOCOLS.find((each) => each === `${major}.0`);
  if (protocol) return protocol;
  const list = PROTOCOLS.join(', ');
  throw new ReleaseError(
    `${name}: metadata.protocol_versions has ${JSON.stringify(value)}. It must be one of ${list}.`,
  );
};

/** Reads `metadata.protocol_versions` of the manifest of a provider. */
const readProtocols = async (manifest: File | undefined): Promise<readonly ReleaseProtocol[]> => {
  if (!manifest) return DEFAULT_PROTOCOLS;
  const { name } = manifest;
  const content = parseManifest(name, await readText(manifest));
  const versions = isObject(content) && isObject(content['metadata']) ? content['metadata']['protocol_versions'] : null;
  if (!Array.isArray(versions) || versions.length === 0)
    throw new ReleaseError(`${name} is not like ${MANIFEST_FORM}.`);
  const protocols = new Set(versions.map((version) => parseProtocol(name, version)));
  return PROTOCOLS.filter((protocol) => protocols.has(protocol));
};

const listNames = (files: readonly File[], used: readonly File[]) => ({
  usedFiles: used.map(({ name }) => name),
  unusedFiles: files.filter((file) => !used.includes(file)).map(({ name }) => name),
});

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
  const sums = parseChecksums(await readText(checksums));
  const listed = [...sums].filter(([filename]) => filename.startsWith(prefix) && filename.endsWith('.zip'));
  if (listed.length === 0) throw new ReleaseError(`${checksums.name} lists no zip of this version.`);
  const archives = listed.map(([filename, shasum]) => {
    const file = byName.get(filename);
    if (!file) throw new ReleaseError(`${filename} is missing. ${checksums.name} lists it.`);
    const [os = '', arch = ''] = filename.slice(prefix.length, -'.zip'.length).split('_');
    return { file, os, arch, shasum };
  });
  const manifest = byName.get(`${prefix}manifest.json`);
  const protocols = await readProtocols(manifest);
  const used = [checksums, signature, ...(manifest ? [manifest] : []), ...archives.map(({ file }) => file)];
  return { name, version, protocols, checksums, signature, archives, ...listNames(files, used) };
};
