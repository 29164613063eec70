import { ApiError, readData, readDocument } from '../../api/api-error.js';
import { api } from '../../api/client.js';
import { PROVIDER_PATH, toProviderPath, type ProviderPlatform, type ProviderVersion } from '../../api/registry.js';
import { sendFile } from '../../api/send-file.js';
import { ReleaseError, type Release, type ReleaseArchive } from './release-files.js';
import { listDifferences, type StoredPlatforms } from './release-differences.js';

export type ReleaseProgress = {
  /** The name of the file that is uploaded. */
  readonly file: string;
  readonly sentBytes: number;
  readonly totalBytes: number;
};

type ReleasePublishing = {
  readonly organization: string;
  readonly release: Release;
  readonly keyId: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReleaseProgress) => void;
  /** Receives the name of each file that is sent, and has those of earlier attempts. */
  readonly sent: Set<string>;
};

const VERSION_PATH = `${PROVIDER_PATH}/versions/{version}` as const;

/** Returns null instead of a refusal with status 404. */
const findDocument = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return null;
    throw error;
  }
};

const createMissingProvider = async ({ organization, release: { name } }: ReleasePublishing): Promise<void> => {
  const path = toProviderPath(organization, name);
  if (await findDocument(readDocument(api.GET(PROVIDER_PATH, { params: { path } })))) return;
  const attributes = { name, namespace: organization, 'registry-name': 'private' as const };
  const body = { data: { type: 'registry-providers' as const, attributes } };
  await readDocument(
    api.POST('/api/v2/organizations/{organization}/registry-providers', { params: { path: { organization } }, body }),
  );
};

const findVersion = async ({ organization, release: { name, version } }: ReleasePublishing) => {
  const path = { ...toProviderPath(organization, name), version };
  return (await findDocument(readDocument(api.GET(VERSION_PATH, { params: { path } }))))?.data ?? null;
};

const createVersion = ({ organization, release, keyId }: ReleasePublishing): Promise<ProviderVersion> => {
  const { name, version, protocols } = release;
  const params = { path: toProviderPath(organization, name) };
  const attributes = { version, 'key-id': keyId, protocols: [...protocols] };
  const body = { data: { type: 'registry-provider-versions' as const, attributes } };
  return readData(api.POST(`${PROVIDER_PATH}/versions`, { params, body }));
};

/** Returns the platforms of the release that the version has already, such as after an interrupted upload. */
const findPlatforms = async ({ organization, release }: ReleasePublishing): Promise<StoredPlatforms> => {
  const { name, version, archives } = release;
  const path = { ...toProviderPath(organization, name), version };
  const platforms = new Map<ReleaseArchive, ProviderPlatform>();
  for (const archive of archives) {
    const params = { path: { ...path, os: archive.os, arch: archive.arch } };
    const platform = await findDocument(readDocument(api.GET(`${VERSION_PATH}/platforms/{os}/{arch}`, { params })));
    if (platform) platforms.set(archive, platform.data);
  }
  return platforms;
};

const createPlatform = (
  { organization, release: { name, version } }: ReleasePublishing,
  { os, arch, shasum, file }: ReleaseArchive,
): Promise<ProviderPlatform> => {
  const path = { ...toProviderPath(organization, name), version };
  const attributes = { os, arch, filename: file.name, shasum };
  const body = { data: { type: 'registry-provider-platforms' as const, attributes } };
  return readData(api.POST(`${VERSION_PATH}/platforms`, { params: { path }, body }));
};

type FileToUpload = { readonly file: File; readonly link: string | undefined };

/** The signature comes last, and clients see no version without it. Files without a link are uploaded already. */
const listUploads = async (
  options: ReleasePublishing,
  version: ProviderVersion,
  platforms: StoredPlatforms,
): Promise<readonly FileToUpload[]> => {
  const { checksums, signature, archives } = options.release;
  const uploads: FileToUpload[] = [{ file: checksums, link: version.links['shasums-upload'] }];
  for (const archive of archives) {
    const { links } = platforms.get(archive) ?? (await createPlatform(options, archive));
    uploads.push({ file: archive.file, link: links['provider-binary-upload'] });
  }
  return [...uploads, { file: signature, link: version.links['shasums-sig-upload'] }];
};

/** Returns what the version has already. Throws a ReleaseError if it differs from the release. Changes nothing. */
const readStored = async (options: ReleasePublishing) => {
  const version = await findVersion(options);
  if (!version) return { version, platforms: new Map<ReleaseArchive, ProviderPlatform>() };
  const platforms = await findPlatforms(options);
  const differences = await listDifferences(options, version, platforms);
  if (differences.length > 0) {
    const { name, version: number } = options.release;
    throw new ReleaseError(
      `${name} ${number} exists already and differs: ${differences.join(', ')}. Nothing was sent. Publish the files ` +
        'with another version, or delete this version first.',
    );
  }
  return { version, platforms };
};

/** The names of the files that were sent, and of those that the server had already. */
export type PublicationResult = { readonly sentFiles: readonly string[]; readonly skippedFiles: readonly string[] };

/**
 * Creates what is missing of the provider, the version and its platforms, and uploads the files that are missing. Throws a
 * ReleaseError, and sends nothing, if the version has other files.
 */
export const publishRelease = async (options: ReleasePublishing): Promise<PublicationResult> => {
  const { signal, onProgress, sent } = options;
  await createMissingProvider(options);
  const stored = await readStored(options);
  signal.throwIfAborted();
  const version = stored.version ?? (await createVersion(options));
  signal.throwIfAborted();
  const uploads = await listUploads(options, version, stored.platforms);
  const totalBytes = uploads.reduce((sum, { file }) => sum + file.size, 0);
  let before = 0;
  for (const { file, link } of uploads) {
    const report = (bytes: number) => onProgress({ file: file.name, sentBytes: before + bytes, totalBytes });
    report(0);
    // Nothing may be published after the person has stopped it between two requests.
    signal.throwIfAborted();
    if (link !== undefined) {
      await sendFile(link, file, { signal, onSent: report });
      sent.add(file.name);
    }
    before += file.size;
    report(0);
  }
  const names = uploads.map(({ file }) => file.name);
  return { sentFiles: names.filter((name) => sent.has(name)), skippedFiles: names.filter((name) => !sent.has(name)) };
};
