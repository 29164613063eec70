import { gzipSync } from 'node:zlib';
import { pack, type Headers } from 'tar-stream';
import { readBytes } from '#storage/blob-store';
import { uploadTo } from './registry.js';
import { expectStatus, resource } from './seeds.js';
import type { ApiTestClient } from './server.js';

export type ArchivedEntry = Headers & { readonly text?: string; readonly pax?: Readonly<Record<string, string>> };

/** Returns a gzip tar archive with these entries. */
export const packArchive = async (entries: readonly ArchivedEntry[]): Promise<Buffer> => {
  const archive = pack();
  for (const { text, ...header } of entries) archive.entry(header, text ?? '');
  archive.finalize();
  return gzipSync(await readBytes(archive));
};

/** Returns the archive of a module with these files. */
export const packModule = (files: Readonly<Record<string, string>> = { 'main.tf': '' }): Promise<Buffer> =>
  packArchive(Object.entries(files).map(([name, text]) => ({ name, text })));

export const pathOfModules = (organization: string): string => `/api/v2/organizations/${organization}/registry-modules`;

export const pathOfModule = (organization: string, name: string, provider = 'aws'): string =>
  `${pathOfModules(organization)}/private/${organization}/${name}/${provider}`;

export const moduleBody = (name: string, attributes: object = {}): object =>
  resource('registry-modules', { name, provider: 'aws', 'registry-name': 'private', ...attributes });

export const moduleVersionBody = (version: string, attributes: object = {}): object =>
  resource('registry-module-versions', { version, ...attributes });

/** Creates a module for the provider aws. Returns its id. */
export const makeModule = async (api: ApiTestClient, organization: string, name: string): Promise<string> =>
  expectStatus(await api.post(pathOfModules(organization), moduleBody(name)), 201).body.data.id as string;

/** Creates a version without an archive. Returns its document. */
export const makeModuleVersion = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  version: string,
): Promise<any> =>
  expectStatus(await api.post(`${pathOfModule(organization, name)}/versions`, moduleVersionBody(version)), 201).body
    .data;

/** Creates a version with this archive. Returns the document of the version before the upload. */
export const publishModuleVersion = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  version: string,
  archive?: Buffer,
): Promise<any> => {
  const created = await makeModuleVersion(api, organization, name, version);
  expectStatus(await uploadTo(api, created.links.upload, archive ?? (await packModule())), 200);
  return created;
};
