import type { z } from 'zod';
import type { RequestResource } from '#packages/client';
import { formatPlatform, type Protocol } from '#registry/provider-release/rules';
import { ApiClient, isSuccess } from './api-client.js';
import {
  anyDocument,
  parseJson,
  keyDocument,
  keyResource,
  listing,
  listDocument,
  packageDocument,
  platformDocument,
  platformResource,
  describeRefusal,
  services,
  versionDocument,
  type KeyAttributes,
  type PlatformResource,
  type VersionResource,
} from './documents.js';
import { createUsageError, createRefusedError } from './command-error.js';
import type { FileUpload } from './file-upload.js';

/** A file to upload, and its link. */
export type RegistryUpload = {
  readonly filename: string;
  /** Content in memory, or a file on disk. */
  readonly content: Uint8Array<ArrayBuffer> | FileUpload;
  readonly link: string;
  /** Requests a new link. Null if the server has the file. */
  readonly refreshUrl: () => Promise<string | null>;
};

type TargetSystem = { readonly os: string; readonly arch: string };
type PlatformInput = TargetSystem & { readonly filename: string; readonly shasum: string };

type Services = { readonly api: URL; readonly providers: URL };

/** Returns the addresses of the server's services (remote service discovery). */
const discoverServices = async ({ http, server }: ApiClient): Promise<Services> => {
  const discovery = new URL('/.well-known/terraform.json', server);
  const addresses = services.safeParse(parseJson(await http.sendWithRetry('discovery', discovery))).data;
  if (!addresses) {
    throw createUsageError(
      `${server.host} has no private registry: ${discovery.href} does not name tfe.v2 and providers.v1`,
    );
  }
  return { api: new URL(addresses['tfe.v2'], server), providers: new URL(addresses['providers.v1'], server) };
};

const buildUrl = (base: URL, ...segments: readonly string[]): URL =>
  new URL(segments.map(encodeURIComponent).join('/'), base);

/** One provider in the private registry of one organization. */
export class ProviderRegistryClient {
  private constructor(
    private readonly api: ApiClient,
    private readonly services: Services,
    readonly organization: string,
    readonly name: string,
  ) {}

  static async find(api: ApiClient, organization: string, name: string): Promise<ProviderRegistryClient> {
    const serviceAddresses = await discoverServices(api);
    const answer = await api.send(buildUrl(serviceAddresses.api, 'organizations', organization));
    if (answer.status === 404) {
      throw createRefusedError(
        `There is no organization ${organization} at ${api.server.host}, or ${api.tokenDescription} cannot read it`,
      );
    }
    if (!isSuccess(answer)) throw createRefusedError(`organization ${organization}: ${describeRefusal(answer)}`);
    return new ProviderRegistryClient(api, serviceAddresses, organization, name);
  }

  /** Source address of the provider in configurations. */
  get source(): string {
    return `${this.api.server.host}/${this.organization}/${this.name}`;
  }

  async hasProvider(): Promise<boolean> {
    return (await this.api.get(this.provider(), anyDocument)) !== null;
  }

  async makeProvider(): Promise<void> {
    const { organization, name } = this;
    await this.api.make({
      what: `provider ${name}`,
      url: buildUrl(this.services.api, 'organizations', organization, 'registry-providers'),
      resource: {
        type: 'registry-providers',
        attributes: { name, namespace: organization, 'registry-name': 'private' },
      } satisfies RequestResource<'createRegistryProvider'>,
      schema: anyDocument,
      find: () => this.api.get(this.provider(), anyDocument),
    });
  }

  async version(version: string): Promise<VersionResource | null> {
    return (await this.api.get(this.provider('versions', version), versionDocument))?.data ?? null;
  }

  async makeVersion(version: string, keyId: string, protocols: readonly Protocol[]): Promise<VersionResource> {
    const created = await this.api.make({
      what: `version ${version}`,
      url: this.provider('versions'),
      resource: {
        type: 'registry-provider-versions',
        attributes: { version, 'key-id': keyId, protocols: [...protocols] },
      } satisfies RequestResource<'createRegistryProviderVersion'>,
      schema: versionDocument,
      find: () => this.api.get(this.provider('versions', version), versionDocument),
    });
    return created.data;
  }

  platforms(version: string): Promise<readonly PlatformResource[]> {
    return this.api.all(this.provider('versions', version, 'platforms'), platformResource, listDocument);
  }

  async platform(version: string, { os, arch }: TargetSystem): Promise<PlatformResource | null> {
    const url = this.provider('versions', version, 'platforms', os, arch);
    return (await this.api.get(url, platformDocument))?.data ?? null;
  }

  async makePlatform(version: string, { os, arch, filename, shasum }: PlatformInput): Promise<PlatformResource> {
    const created = await this.api.make({
      what: filename,
      url: this.provider('versions', version, 'platforms'),
      resource: {
        type: 'registry-provider-version-platforms',
        attributes: { os, arch, filename, shasum },
      } satisfies RequestResource<'createRegistryProviderPlatform'>,
      schema: platformDocument,
      find: () => this.api.get(this.provider('versions', version, 'platforms', os, arch), platformDocument),
    });
    return created.data;
  }

  async keys(): Promise<readonly KeyAttributes[]> {
    const url = this.gpgKeys();
    url.searchParams.set('filter[namespace]', this.organization);
    return (await this.api.all(url, keyResource, listDocument)).map(({ attributes }) => attributes);
  }

  async key(keyId: string): Promise<KeyAttributes | null> {
    const url = this.gpgKeys(this.organization, keyId);
    return (await this.api.get(url, keyDocument))?.data.attributes ?? null;
  }

  async addKey(keyId: string, armor: string): Promise<void> {
    await this.api.make({
      what: `GPG key ${keyId}`,
      url: this.gpgKeys(),
      resource: {
        type: 'gpg-keys',
        attributes: { namespace: this.organization, 'ascii-armor': armor },
      } satisfies RequestResource<'createGpgKey'>,
      schema: keyDocument,
      find: () => this.api.get(this.gpgKeys(this.organization, keyId), keyDocument),
    });
  }

  /** Uploads a file until it has arrived or is refused. The signed link replaces the token. */
  upload({ filename, content, link, refreshUrl }: RegistryUpload): Promise<void> {
    const { http, server } = this.api;
    return http.patiently(filename, async (attempt) => {
      const url = attempt === 1 ? link : await refreshUrl();
      // The previous attempt has succeeded, although its response did not arrive.
      if (url === null) return;
      const to = new URL(url, server);
      const answer = await (content instanceof Uint8Array
        ? http.send(to, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body: content })
        : http.put(to, content));
      if (isSuccess(answer) || (answer.status === 409 && (await refreshUrl()) === null)) return;
      throw createRefusedError(`${filename}: ${describeRefusal(answer)}`);
    });
  }

  /** Downloads a small file of a release. The signed link replaces the token. */
  async download(filename: string, link: string): Promise<Buffer> {
    const answer = await this.api.http.sendWithRetry(filename, new URL(link, this.api.server));
    if (!isSuccess(answer)) throw createRefusedError(`${filename} cannot be downloaded: ${describeRefusal(answer)}`);
    return answer.bytes;
  }

  /** Returns the platforms that the server lists for a version. Null if it does not list the version. */
  async offered(version: string): Promise<readonly string[] | null> {
    const versionList = await this.api.get(this.protocol('versions'), listing);
    const listed = versionList?.versions.find((each) => each.version === version);
    return listed ? (listed.platforms ?? []).map(formatPlatform) : null;
  }

  /** Returns the package document that a client gets. */
  package(version: string, { os, arch }: TargetSystem): Promise<z.output<typeof packageDocument> | null> {
    return this.api.get(this.protocol(version, 'download', os, arch), packageDocument);
  }

  /** Repeats the work until it succeeds, because some servers list a version late. */
  patiently<T>(work: () => Promise<T>): Promise<T> {
    return this.api.http.patiently(this.source, work);
  }

  private provider(...segments: readonly string[]): URL {
    const { organization, name } = this;
    const path = ['organizations', organization, 'registry-providers', 'private', organization, name, ...segments];
    return buildUrl(this.services.api, ...path);
  }

  private protocol(...segments: readonly string[]): URL {
    return buildUrl(this.services.providers, this.organization, this.name, ...segments);
  }

  /** Discovery does not name this part of the API. Clients expect it at this path of the same host. */
  private gpgKeys(...segments: readonly string[]): URL {
    return buildUrl(new URL('/api/registry/private/v2/', this.services.api), 'gpg-keys', ...segments);
  }
}
