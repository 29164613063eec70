import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { PrivateHosts } from '#platform/outbound';
import { createLimiter } from './limiter.js';

/** Networks of organizations. Runs change what is in them, so they are reached. */
const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];

/** Addresses within these networks at which clouds hand out credentials of the machine: Alibaba and AWS. */
const METADATA_NETWORKS = ['100.100.100.200', 'fd00:ec2::/32'];

/** Names for link-local addresses. Refused before they are resolved, because resolvers can answer for them in other ways. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'instance-data',
  'instance-data.ec2.internal',
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
]);

/** A command tried to reach a host that it must not reach. */
export class RefusedDestination extends Error {
  constructor(host: string) {
    super(`Cadastre refuses ${host}: a local address, which CADASTRE_EXECUTOR_PERMITTED_HOSTS does not permit`);
  }
}

/** Where a connection leads. */
export type HostAndPort = { readonly host: string; readonly port: number };

type ResolveHost = (host: string) => Promise<readonly string[]>;

const resolveHost: ResolveHost = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Returns the host and the port of a URL, also if it is the default one. */
export const toHostAndPort = ({ hostname, port, protocol }: URL): HostAndPort => ({
  host: hostname.replaceAll(/^\[|\]$/g, ''),
  port: Number(port) || (protocol === 'https:' ? 443 : 80),
});

/** Returns whether the executor has the address: what listens there may trust the machine. */
const isOwnAddress = (address: string): boolean => {
  const own = Object.values(networkInterfaces()).flatMap((entries = []) => entries.map((entry) => entry.address));
  return new PrivateHosts(own).lists('', address);
};

/** The system resolves names in four threads, which the requests and files of the executor need too. */
const MAX_LOOKUPS = 2;

/** Decides which hosts commands reach. */
export class Destinations {
  private readonly permitted: PrivateHosts;
  private readonly reachable = new PrivateHosts(PRIVATE_NETWORKS);
  private readonly metadata = new PrivateHosts(METADATA_NETWORKS);
  readonly server: HostAndPort;
  private readonly resolve: ResolveHost;

  constructor(server: URL, permittedHosts: readonly string[], resolve: ResolveHost = resolveHost) {
    const lookups = createLimiter(MAX_LOOKUPS);
    this.resolve = (host) => lookups(() => resolve(host));
    this.server = toHostAndPort(server);
    this.permitted = new PrivateHosts(permittedHosts);
  }

  /**
   * Returns the addresses of a host. The caller must connect to one of them, and not resolve the name again, because its
   * addresses can change. Rejects if one of them is local.
   */
  async findAddresses({ host, port }: HostAndPort): Promise<readonly string[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const isServer = name === this.server.host && port === this.server.port;
    if (!isServer && METADATA_NAMES.has(name) && !this.permitted.lists(name, '')) throw new RefusedDestination(host);
    const addresses = isIP(name) === 0 ? await this.resolve(name) : [name];
    if (!isServer && !addresses.every((address) => this.isReachable(name, address))) throw new RefusedDestination(host);
    return addresses;
  }

  private isReachable(name: string, address: string): boolean {
    if (this.permitted.lists(name, address)) return true;
    if (this.metadata.lists('', address) || isOwnAddress(address)) return false;
    return this.reachable.permits(name, address);
  }
}

/** Returns a lookup for connections that answers with addresses that were checked, whatever the name resolves to now. */
export const useAddresses =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) => {
    const candidates = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const [first] = candidates;
    if (!first) return callback(new Error('no addresses'), '');
    return options.all ? callback(null, candidates) : callback(null, first.address, first.family);
  };
