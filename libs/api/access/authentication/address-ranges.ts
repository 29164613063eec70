import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The canonical form of an address range, or why a text is not a range. */
type ParsedRange = { readonly range: string } | { readonly problem: string };

const ACCEPTED = 'an IPv4 or IPv6 range in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32, or one address';

/** An obsolete form of IPv6, such as `::10.0.0.1`, which the library reads as the IPv4 address. */
const IPV4_COMPATIBLE = /^::\d+\.\d+\.\d+\.\d+$/;
/** The suffix of a link-local address that names a network interface. */
const ZONE = /%.*$/s;
const RANGE = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i;
/** Bits of an IPv6 address before the IPv4 address that it contains: `::ffff:0:0/96`. */
const MAPPED_BITS = 96;

const BITS = { ipv4: 32, ipv6: 128 } as const;

/** Returns null if the text is not an address. Refuses octal numbers and fewer than four parts, such as `010.1`. */
const parseWrittenAddress = (text: string): Address | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) && !IPV4_COMPATIBLE.test(text) ? ipaddr.IPv6.parse(text) : null;
};

const isMapped = (address: Address): address is ipaddr.IPv6 =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();

/** Returns the address of a client. An IPv4 address that is written as IPv6 is an IPv4 address. */
const parseClientAddress = (text: string): Address | null => {
  const address = parseWrittenAddress(text.replace(ZONE, ''));
  return address && isMapped(address) ? address.toIPv4Address() : address;
};

const format = (address: Address): string =>
  address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();

/** An address with a port, as some proxies write it: `203.0.113.7:5555`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([0-9a-f.:]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i;

/** Returns the canonical form of an address that a proxy may have written. Returns null if the text is not an address. */
export const formatClientAddress = (text: string): string | null => {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = parseClientAddress(ipv6 ?? ipv4 ?? text);
  return address && format(address);
};

const maskAddress = (address: Address, bits: number): Address =>
  address instanceof ipaddr.IPv6
    ? ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/${bits}`)
    : ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`);

type WrittenRange = { readonly address: Address; readonly bits: number };

/** Returns the address and the length of the prefix. Returns null if the text is not a range. */
const parseWrittenRange = (text: string): WrittenRange | null => {
  const [, written = '', prefix] = RANGE.exec(text.trim()) ?? [];
  const address = parseWrittenAddress(written);
  if (!address) return null;
  const most = BITS[address.kind()];
  const bits = prefix === undefined ? most : Number(prefix);
  return bits <= most ? { address, bits } : null;
};

/** Returns a range of IPv4 addresses that are written as IPv6 as an IPv4 range, and any other range unchanged. */
const toIpv4Range = ({ address, bits }: WrittenRange): WrittenRange =>
  isMapped(address) && bits >= MAPPED_BITS
    ? { address: address.toIPv4Address(), bits: bits - MAPPED_BITS }
    : { address, bits };

/**
 * Returns the canonical form of a range. IPv4 ranges that are written as IPv6 become IPv4 ranges. Refuses an address with
 * bits after the prefix, because a wrong prefix would admit more addresses than the text shows.
 */
export const parseAddressRange = (text: string): ParsedRange => {
  const written = parseWrittenRange(text);
  if (!written) return { problem: `must be ${ACCEPTED}, got "${text}"` };
  const { address, bits } = toIpv4Range(written);
  const network = format(maskAddress(address, bits));
  if (network === format(address)) return { range: `${network}/${bits}` };
  return {
    problem:
      `must begin with the first address of the range: ${network}/${bits}, or ${format(address)}/${BITS[address.kind()]} ` +
      `for one address, got "${text}"`,
  };
};

export type AddressMatcher = (address: string) => boolean;

/**
 * Returns a function that returns whether an address is in one of the ranges. The ranges are texts of
 * `parseAddressRange`. IPv6 ranges contain no IPv4 addresses.
 */
export const createAddressMatcher = (ranges: readonly string[]): AddressMatcher => {
  const parsed = ranges.map((range) => ipaddr.parseCIDR(range));
  return (text) => {
    const address = parseClientAddress(text);
    return address !== null && parsed.some((range) => range[0].kind() === address.kind() && address.match(range));
  };
};
