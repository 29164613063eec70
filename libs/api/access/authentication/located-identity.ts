import { LRUCache } from 'lru-cache';
import type { Identity } from '../callers/actor.js';
import { createAddressMatcher, type AddressMatcher } from './address-ranges.js';
import type { IdentityOfToken, IpAllowlistRule } from './identity.queries.js';

/** The most parsed lists in memory. The callers of an organization share a list. */
const MAX_MATCHERS = 1_000;
/** The most identities of one caller in memory. */
const MAX_VARIANTS = 16;

const matchers = new LRUCache<string, AddressMatcher, IpAllowlistRule>({
  max: MAX_MATCHERS,
  memoMethod: (_key, _earlier, { context }) => createAddressMatcher(context.ranges),
});

const findMatcher = (rule: IpAllowlistRule): AddressMatcher => matchers.memo(rule.ranges.join(' '), { context: rule });

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
    let variant = this.variants.get(key);
    if (!variant) {
      // An LRUCache takes 2 kB, and each of 10,000 credentials in memory would have one.
      if (this.variants.size >= MAX_VARIANTS) this.variants.clear();
      this.variants.set(key, (variant = refuseIn(refusing)));
    }
    return variant;
  }
}
