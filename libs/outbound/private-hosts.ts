import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Returns whether every machine of the internet can have this address. Private, local, multicast and reserved addresses
 * are not public, and neither are IPv6 addresses that contain such an IPv4 address.
 */
export const isPublicAddress = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';

const NETWORK = /^([0-9a-f.:]+)\/(\d{1,3})$/i;
const toFamily = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Hosts with private addresses that requests to addresses of callers may reach. */
export class PrivateHosts {
  private readonly networks = new BlockList();
  private readonly names: ReadonlySet<string>;
  private readonly domains: readonly string[];

  /** `entries` are host names, `*.` before a domain, addresses, or networks such as 10.0.0.0/8. */
  constructor(entries: readonly string[]) {
    const names = entries
      .filter((entry) => isIP(entry) === 0 && !NETWORK.test(entry))
      .map((name) => name.toLowerCase());
    this.names = new Set(names.filter((name) => !name.startsWith('*.')));
    this.domains = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
    for (const entry of entries) this.addNetwork(entry);
  }

  /** Returns whether a request to this host may connect to this address. */
  permits(host: string, address: string): boolean {
    if (isPublicAddress(address)) return true;
    const name = host.toLowerCase().replace(/\.$/, '');
    if (this.names.has(name) || this.domains.some((domain) => name.endsWith(domain))) return true;
    return this.networks.check(address, toFamily(address));
  }

  private addNetwork(entry: string): void {
    const [, address, bits] = NETWORK.exec(entry) ?? [];
    if (address !== undefined) this.networks.addSubnet(address, Number(bits), toFamily(address));
    else if (isIP(entry) !== 0) this.networks.addAddress(entry, toFamily(entry));
  }
}
