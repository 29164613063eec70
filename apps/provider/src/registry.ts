import type { z } from 'zod';
import { nameOfPlatform } from '#provider-release/rules';
import { Api, isGood } from './api.js';
import {
  anything,
  jsonOf,
  keyDocument,
  keyResource,
  listing,
  many,
  packageDocument,
  platformDocument,
  platformResource,
  reasonOf,
  services,
  versionDocument,
  type KeyFound,
  type PlatformFound,
  type VersionFound,
} from './documents.js';
import { badUsage, refused } from './failure.js';
import type { FileToPut } from './put-file.js';

/** A file to be uploaded, and where to. */
export type Upload = {
  readonly filename: string;
  /** In memory, or on disk. */
  readonly content: Uint8Array<ArrayBuffer> | FileToPut;
  readonly link: string;
  /** Asks where to once more; null where the file has arrived. */
  readonly again: () => Promise<string | null>;
};

export type System = { readonly os: string; readonly arch: string };
export type PlatformFacts = System & { readonly filename: string; readonly shasum: string };

type Services = { readonly api: URL; readonly providers: URL };

/** Asks the server where its services are (remote service discovery). */
const servicesOf = async ({ http, server }: Api): Promise<Services> => {
  const discovery = new URL('/.well-known/terraform.json', server);
  const found = services.safeParse(jsonOf(await http.ask('discovery', discovery))).data;
  if (!found) {
    throw badUsage(`${server.host} has no private registry: ${discovery.href} does not name tfe.v2 and providers.v1`);
  }
  return { api: new URL(found['tfe.v2'], server), providers: new URL(found['providers.v1'], server) };
};

const at = (base: URL, ...segments: readonly string[]): URL =>
  new URL(segments.map(encodeURIComponent).join('/'), base);

/** One provider in the private registry of one organization. */
export class Registry {
  private constructor(
    private readonly api: Api,
    private readonly services: Services,
    readonly organization: string,
    readonly name: string,
  ) {}

  static async find(api: Api, organization: string, name: string): Promise<Registry> {
    const found = await servicesOf(api);
    const answer = await api.send(at(found.api, 'organizations', organization));
    if (answer.status === 404) {
      throw refused(`There is no organization ${organization} at ${api.server.host}, or ${api.asker} may not see it`);
    }
    if (!isGood(answer)) throw refused(`organization ${organization}: ${reasonOf(answer)}`);
    return new Registry(api, found, organization, name);
  }

  /** As configurations name it. */
  get source(): string {
    return `${this.api.server.host}/${this.organization}/${this.name}`;
  }

  async hasProvider(): Promise<boolean> {
    return (await this.api.get(this.provider(), anything)) !== null;
  }

  async makeProvider(): Promise<void> {
    const { organization, name } = this;
    await this.api.make({
      what: `provider ${name}`,
      url: at(this.services.api, 'organizations', organization, 'registry-providers'),
      type: 'registry-providers',
      attributes: { name, namespace: organization, 'registry-name': 'private' },
      schema: anything,
      find: () => this.api.get(this.provider(), anything),
    });
  }

  async version(version: string): Promise<VersionFound | null> {
    return (await this.api.get(this.provider('versions', version), versionDocument))?.data ?? null;
  }

  async makeVersion(version: string, keyId: string, protocols: readonly string[]): Promise<VersionFound> {
    const made = await this.api.make({
      what: `version ${version}`,
      url: this.provider('versions'),
      type: 'registry-provider-versions',
      attributes: { version, 'key-id': keyId, protocols },
      schema: versionDocument,
      find: () => this.api.get(this.provider('versions', version), versionDocument),
    });
    return made.data;
  }

  platforms(version: string): Promise<readonly PlatformFound[]> {
    return this.api.all(this.provider('versions', version, 'platforms'), platformResource, many);
  }

  async platform(version: string, { os, arch }: System): Promise<PlatformFound | null> {
    const url = this.provider('versions', version, 'platforms', os, arch);
    return (await this.api.get(url, platformDocument))?.data ?? null;
  }

  async makePlatform(version: string, { os, arch, filename, shasum }: PlatformFacts): Promise<PlatformFound> {
    const made = await this.api.make({
      what: filename,
      url: this.provider('versions', version, 'platforms'),
      type: 'registry-provider-version-platforms',
      attributes: { os, arch, filename, shasum },
      schema: platformDocument,
      find: () => this.api.get(this.provider('versions', version, 'platforms', os, arch), platformDocument),
    });
    return made.data;
  }

  async keys(): Promise<readonly KeyFound[]> {
    const url = this.gpgKeys();
    url.searchParams.set('filter[namespace]', this.organization);
    return (await this.api.all(url, keyResource, many)).map(({ attributes }) => attributes);
  }

  async key(keyId: string): Promise<KeyFound | null> {
    const url = this.gpgKeys(this.organization, keyId);
    return (await this.api.get(url, keyDocument))?.data.attributes ?? null;
  }

  async addKey(keyId: string, armor: string): Promise<void> {
    await this.api.make({
      what: `GPG key ${keyId}`,
      url: this.gpgKeys(),
      type: 'gpg-keys',
      attributes: { namespace: this.organization, 'ascii-armor': armor },
      schema: keyDocument,
      find: () => this.api.get(this.gpgKeys(this.organization, keyId), keyDocument),
    });
  }

  /** Sends a file until it has arrived, or is refused. The link stands for the token, which is not sent along. */
  upload({ filename, content, link, again }: Upload): Promise<void> {
    const { http, server } = this.api;
    return http.patiently(filename, async (attempt) => {
      const url = attempt === 1 ? link : await again();
      // The attempt before has succeeded, though its answer did not come.
      if (url === null) return;
      const to = new URL(url, server);
      const answer = await (content instanceof Uint8Array
        ? http.send(to, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body: content })
        : http.put(to, content));
      if (isGood(answer) || (answer.status === 409 && (await again()) === null)) return;
      throw refused(`${filename}: ${reasonOf(answer)}`);
    });
  }

  /** A small file of a release. The link stands for the token here as well. */
  async download(filename: string, link: string): Promise<Buffer> {
    const answer = await this.api.http.ask(filename, new URL(link, this.api.server));
    if (!isGood(answer)) throw refused(`${filename} cannot be fetched: ${reasonOf(answer)}`);
    return answer.bytes;
  }

  /** The systems that clients are offered of a version; null where they are not offered it. */
  async offered(version: string): Promise<readonly string[] | null> {
    const found = await this.api.get(this.protocol('versions'), listing);
    const listed = found?.versions.find((each) => each.version === version);
    return listed ? (listed.platforms ?? []).map(nameOfPlatform) : null;
  }

  /** What a client is told to install. */
  package(version: string, { os, arch }: System): Promise<z.output<typeof packageDocument> | null> {
    return this.api.get(this.protocol(version, 'download', os, arch), packageDocument);
  }

  /** Asks for something until it is there, of servers that need a moment. */
  patiently<T>(work: () => Promise<T>): Promise<T> {
    return this.api.http.patiently(this.source, work);
  }

  private provider(...segments: readonly string[]): URL {
    const { organization, name } = this;
    const path = ['organizations', organization, 'registry-providers', 'private', organization, name, ...segments];
    return at(this.services.api, ...path);
  }

  private protocol(...segments: readonly string[]): URL {
    return at(this.services.providers, this.organization, this.name, ...segments);
  }

  /** Discovery does not name this part of the API; clients take it to be beside the other. */
  private gpgKeys(...segments: readonly string[]): URL {
    return at(new URL('/api/registry/private/v2/', this.services.api), 'gpg-keys', ...segments);
  }
}
