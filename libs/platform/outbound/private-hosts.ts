import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Addresses in public ranges that reach a service of the cloud from inside it: the host agent of Azure, which answers
 * metadata and configuration. The other large clouds use link-local, unique-local, shared and reserved addresses.
 */
const CLOUD_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

const IPV4_COMPATIBLE = /^::\d+\.\d+\.\d+\.\d+$/;

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Special ranges within 2000::/3: protocols with Teredo, documentation, and 6to4. */
const SPECIAL_RANGES = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/** The first half of an ISATAP interface id, before an IPv4 address. */
const ISATAP = [0x00_00, 0x02_00];
const ISATAP_MARK = 0x5e_fe;

const isPublicV6 = (address: ipaddr.IPv6): boolean => {
  const [, , , , flags = 0, mark] = address.parts;
  if (mark === ISATAP_MARK && ISATAP.includes(flags)) return false;
  return address.match(GLOBAL_UNICAST) && !SPECIAL_RANGES.some((range) => address.match(range));
};

/**
 * Returns whether every machine of the internet can have this address. Private, local, multicast and reserved addresses
 * are not public, and neither are addresses of cloud services for their own machines. An IPv6 address is public only in the
 * global unicast range, outside of special ranges and of ranges that contain IPv4 addresses.
 */
export const isPublicAddress = (address: string): boolean => {
  // The library reads this old form as ::ffff:a.b.c.d. The connection would go to another address.
  if (!ipaddr.isValid(address) || IPV4_COMPATIBLE.test(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6) return isPublicV6(parsed);
  return parsed.range() === 'unicast' && !CLOUD_ADDRESSES.has(parsed.toString());
};

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
    return isPublicAddress(address) || this.lists(host, address);
  }

  /** Returns whether an entry names this host, or contains this address. */
  lists(host: string, address: string): boolean {
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
