import { describe, expect, it } from '@jest/globals';
import type { Identity } from '../callers/actor.js';
import { LocatedIdentity } from './located-identity.js';

const OFFICE = { organization: 'org-1', ranges: ['203.0.113.0/24'] };
const VPN = { organization: 'org-2', ranges: ['203.0.113.0/24', '198.51.100.0/24'] };

const locate = (kind: Identity['kind'], allowlists: readonly (typeof OFFICE)[]) => {
  const identity = { kind, token: 'at-1' } as Identity & { readonly token: string };
  const refused: (readonly string[])[] = [];
  const located = new LocatedIdentity({
    identity,
    allowlists,
    refuseIn: (organizations) => {
      refused.push(organizations);
      return { ...identity };
    },
  });
  return { identity, located, refused };
};

describe('the identity at an address', () => {
  it('is the same object without lists, and at addresses that all lists contain', () => {
    const { identity, located } = locate('user', []);
    expect(located.at('192.0.2.1')).toBe(identity);
    const restricted = locate('user', [OFFICE, VPN]);
    expect(restricted.located.at('203.0.113.7')).toBe(restricted.identity);
    expect(restricted.located.at('::ffff:203.0.113.8')).toBe(restricted.identity);
  });

  it('is one object for all addresses that the same organizations refuse, and another one for other organizations', () => {
    const { identity, located, refused } = locate('user', [OFFICE, VPN]);
    const atVpn = located.at('198.51.100.9');
    const outside = located.at('192.0.2.1');
    expect(new Set([identity, atVpn, outside]).size).toBe(3);
    expect(located.at('198.51.100.10')).toBe(atVpn);
    expect(located.at('2001:db8::1')).toBe(outside);
    expect(located.at('')).toBe(outside);
    expect(refused).toEqual([['org-1'], ['org-1', 'org-2']]);
  });

  it('is null for a credential of one organization that refuses the address', () => {
    for (const kind of ['team', 'organization', 'audit-trails', 'agent', 'run'] as const) {
      const { identity, located } = locate(kind, [OFFICE]);
      expect(located.at('203.0.113.7')).toBe(identity);
      expect(located.at('192.0.2.1')).toBeNull();
    }
  });

  it('keeps a limited number of objects for a caller of many organizations', () => {
    const lists = Array.from({ length: 6 }, (_, n) => ({
      organization: `org-${n}`,
      ranges: Array.from({ length: 64 }, (__, address) => address).flatMap((address) =>
        (address & (1 << n)) === 0 ? [`192.0.2.${address}/32`] : [],
      ),
    }));
    const { located } = locate('user', lists);
    const first = located.at('192.0.2.1');
    for (let address = 2; address < 64; address += 1) expect(located.at(`192.0.2.${address}`)).not.toBe(first);
    expect(located.at('192.0.2.1')).not.toBe(first);
  });
});
