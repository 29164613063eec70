import { ApiError, readDocument } from '../../api/api-error.js';
import { api } from '../../api/client.js';
import { PROVIDER_PATH, toProviderPath, type ProviderPlatform, type ProviderVersion } from '../../api/registry.js';
import type { Release, ReleaseArchive } from './release-files.js';

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

/** Returns the version, which an interrupted upload can have created. */
const openVersion = async ({ organization, release, keyId }: ReleasePublishing): Promise<ProviderVersion> => {
  const { name, version, protocols } = release;
  const path = toProviderPath(organization, name);
  const existing = await findDocument(readDocument(api.GET(VERSION_PATH, { params: { path: { ...path, version } } })));
  if (existing) return existing.data;
  const attributes = {
    version,
    'key-id': keyId,
    protocols: [...protocols] as ProviderVersion['attributes']['protocols'],
  };
  const body = { data: { type: 'registry-provider-versions' as const, attributes } };
  return (await readDocument(api.POST(`${PROVIDER_PATH}/versions`, { params: { path }, body }))).data;
};

const openPlatform = async (
  { organization, release: { name, version } }: ReleasePublishing,
  { os, arch, shasum, file }: ReleaseArchive,
): Promise<ProviderPlatform> => {
  const path = { ...toProviderPath(organization, name), version };
  const params = { path: { ...path, os, arch } };
  const existing = await findDocument(readDocument(api.GET(`${VERSION_PATH}/platforms/{os}/{arch}`, { params })));
  if (existing) return existing.data;
  const attributes = { os, arch, filename: file.name, shasum };
  const body = { data: { type: 'registry-provider-platforms' as const, attributes } };
  return (await readDocument(api.POST(`${VERSION_PATH}/platforms`, { params: { path }, body }))).data;
};

/** Returns why an upload was refused, as `ApiError` describes it. */
const toUploadError = (request: XMLHttpRequest): ApiError => {
  const details = ((): readonly string[] => {
    try {
      const { errors = [] } = JSON.parse(request.responseText) as { errors?: readonly { detail?: string }[] };
      return errors.flatMap(({ detail }) => detail ?? []);
    } catch {
      return [];
    }
  })();
  return new ApiError(
    request.status,
    details.map((detail) => ({ detail, field: null })),
    null,
  );
};

/** Sends a file to a signed link of this server. XMLHttpRequest reports the progress, fetch cannot. */
const sendFile = (
  link: string,
  file: File,
  { signal, onSent }: { readonly signal: AbortSignal; readonly onSent: (bytes: number) => void },
): Promise<void> =>
  new Promise((resolve, reject) => {
    const { pathname, search } = new URL(link);
    const request = new XMLHttpRequest();
    request.open('PUT', pathname + search);
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener('load', () => (request.status < 300 ? resolve() : reject(toUploadError(request))));
    request.addEventListener('error', () => reject(new TypeError('The connection was interrupted. Try again.')));
    request.addEventListener('abort', () => reject(new DOMException('The upload was stopped.', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });

type FileToUpload = { readonly file: File; readonly link: string | undefined };

/** The signature comes last, and clients see no version without it. Files without a link are uploaded already. */
const listUploads = async (options: ReleasePublishing, version: ProviderVersion): Promise<readonly FileToUpload[]> => {
  const { checksums, signature, archives } = options.release;
  const uploads: FileToUpload[] = [{ file: checksums, link: version.links['shasums-upload'] }];
  for (const archive of archives) {
    const { links } = await openPlatform(options, archive);
    uploads.push({ file: archive.file, link: links['provider-binary-upload'] });
  }
  return [...uploads, { file: signature, link: version.links['shasums-sig-upload'] }];
};

/** Creates what is missing of the provider, the version and its platforms, and uploads the files that are missing. */
export const publishRelease = async (options: ReleasePublishing): Promise<void> => {
  const { signal, onProgress } = options;
  await createMissingProvider(options);
  signal.throwIfAborted();
  const version = await openVersion(options);
  signal.throwIfAborted();
  const uploads = await listUploads(options, version);
  const totalBytes = uploads.reduce((sum, { file }) => sum + file.size, 0);
  let before = 0;
  for (const { file, link } of uploads) {
    const report = (bytes: number) => onProgress({ file: file.name, sentBytes: before + bytes, totalBytes });
    report(0);
    // Nothing may be published after the person has stopped it between two requests.
    signal.throwIfAborted();
    if (link !== undefined) await sendFile(link, file, { signal, onSent: report });
    before += file.size;
    report(0);
  }
};
