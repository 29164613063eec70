import type { Identity } from '../callers/actor.js';
import { createAddressMatcher, type AddressMatcher } from './address-ranges.js';
import type { IdentityOfToken, IpAllowlistRule } from './identity.queries.js';

/** The most parsed lists in memory. The callers of an organization share a list. */
const MAX_MATCHERS = 1_000;
/** The most identities of one caller in memory. Above this number, the oldest one is replaced. */
const MAX_VARIANTS = 16;

const matchers = new Map<string, AddressMatcher>();

const setWithLimit = <V>(map: Map<string, V>, key: string, value: V, most: number): V => {
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size >= most) map.delete(oldest);
  map.set(key, value);
  return value;
};

const findMatcher = ({ ranges }: IpAllowlistRule): AddressMatcher => {
  const key = ranges.join(' ');
  return matchers.get(key) ?? setWithLimit(matchers, key, createAddressMatcher(ranges), MAX_MATCHERS);
};

/**
 * The identity of a credential at each address: IP allowlists can refuse addresses. Two addresses that the same
 * organizations refuse have the same object, so that kept documents of one address are never sent to another one that may
 * see less.
 */
export class LocatedIdentity {
  private readonly variants = new Map<string, Identity>();

  constructor(private readonly read: Pick<IdentityOfToken, 'identity' | 'allowlists' | 'refuseIn'>) {}

  /** Returns null if the credential belongs to one organization, and this organization refuses the address. */
  at(address: string): Identity | null {
    const { identity, allowlists, refuseIn } = this.read;
    if (allowlists.length === 0) return identity;
    const refusing = allowlists.filter((rule) => !findMatcher(rule)(address)).map(({ organization }) => organization);
    if (refusing.length === 0) return identity;
    if (identity.kind !== 'user') return null;
    const key = refusing.join(' ');
    return this.variants.get(key) ?? setWithLimit(this.variants, key, refuseIn(refusing), MAX_VARIANTS);
  }
}
