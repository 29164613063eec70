import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import {
  ipAllowlist,
  type AllowedRange,
  type IpAllowlistCommand,
  type IpAllowlistContent,
  type IpAllowlistEvent,
} from './ip-allowlist.js';

const { given } = specify(ipAllowlist);

const CONTENT: IpAllowlistContent = { name: 'Offices', description: null, enforcementScope: 'organization' };
const HOME: AllowedRange = { id: 'cidr-1', range: '203.0.113.0/24', description: null, enabled: true };
const VPN: AllowedRange = { id: 'cidr-2', range: '198.51.100.0/24', description: 'VPN', enabled: true };
const AT_HOME = '203.0.113.7';

const created = (content: Partial<IpAllowlistContent> = {}, ...ranges: AllowedRange[]): IpAllowlistEvent => ({
  type: 'IpAllowlistCreated',
  data: { ...CONTENT, ...content, ranges },
});
const added = (range: AllowedRange): IpAllowlistEvent => ({ type: 'IpAllowlistRangeAdded', data: range });
const updated = (range: AllowedRange): IpAllowlistEvent => ({ type: 'IpAllowlistRangeUpdated', data: range });
const create = (
  content: Partial<IpAllowlistContent> = {},
  ranges: readonly AllowedRange[] = [],
  keep: string | null = AT_HOME,
): IpAllowlistCommand => ({ type: 'CreateIpAllowlist', data: { ...CONTENT, ...content, ranges, keep } });
const add = (range: AllowedRange, keep: string | null = AT_HOME): IpAllowlistCommand => ({
  type: 'AddAllowedRange',
  data: { ...range, keep },
});
const update = (id: string, changes: object, keep: string | null = AT_HOME): IpAllowlistCommand => ({
  type: 'UpdateAllowedRange',
  data: { id, changes, keep },
});
const remove = (id: string, keep: string | null = AT_HOME): IpAllowlistCommand => ({
  type: 'RemoveAllowedRange',
  data: { id, keep },
});
const change = (changes: Partial<IpAllowlistContent>, keep: string | null = AT_HOME): IpAllowlistCommand => ({
  type: 'UpdateIpAllowlist',
  data: { changes, keep },
});
const assign = (...agentPools: string[]): IpAllowlistCommand => ({ type: 'AssignAgentPools', data: { agentPools } });
const unassign = (...agentPools: string[]): IpAllowlistCommand => ({
  type: 'UnassignAgentPools',
  data: { agentPools },
});
const LOCKED_OUT = /^This would lock you out: no enabled range .* your own address, 203\.0\.113\.7\./;

describe('an IP allowlist', () => {
  it('is created once, with ranges in canonical form', () => {
    given().when(create()).yields(created());
    given(created()).when(create()).refuses('conflict', 'IP allowlist exists already');
    const written = { ...HOME, range: ' ::ffff:203.0.113.0/120' };
    given()
      .when(create({}, [written, VPN]))
      .yields(created({}, HOME, VPN));
  });

  it.each([
    [{ name: ' ' }, "Name can't be blank", '/data/attributes/name'],
    [{ name: 'n'.repeat(256) }, 'Name is too long (at most 255 characters)', '/data/attributes/name'],
    [
      { description: 'd'.repeat(1001) },
      'Description is too long (at most 1000 characters)',
      '/data/attributes/description',
    ],
  ])('refuses %j', (content, detail, pointer) => {
    given().when(create(content)).refuses('unprocessable', detail, pointer);
    given(created()).when(change(content)).refuses('unprocessable', detail, pointer);
  });

  it('refuses invalid and repeated ranges, and names the field', () => {
    const nested = '/data/relationships/cidr-ranges/data/1/attributes/range';
    const wrong = { ...VPN, range: '198.51.100.9/24' };
    const twice = { ...VPN, range: HOME.range };
    given()
      .when(create({}, [HOME, wrong]))
      .refuses('unprocessable', /^Range must begin with/, nested);
    given()
      .when(create({}, [HOME, twice]))
      .refuses('unprocessable', `Range ${HOME.range} is in the list already`, nested);
    given(created({}, HOME))
      .when(add(wrong))
      .refuses('unprocessable', /^Range must begin with/, '/data/attributes/range');
    given(created({}, HOME))
      .when(add(twice))
      .refuses('unprocessable', `Range ${HOME.range} is in the list already`, '/data/attributes/range');
    given(created({}, HOME, VPN))
      .when(update(VPN.id, { range: HOME.range }))
      .refuses('unprocessable', `Range ${HOME.range} is in the list already`, '/data/attributes/range');
  });

  it('has at most 100 ranges', () => {
    const many = Array.from({ length: 100 }, (_, n) => ({ ...HOME, id: `cidr-${n}`, range: `10.0.${n}.0/24` }));
    const full = created({ enforcementScope: 'all_agent_pools' }, ...many);
    given(full)
      .when(add({ ...VPN, id: 'cidr-more' }))
      .refuses('unprocessable', /^A list can have at most 100 ranges/);
    given(full, { type: 'IpAllowlistRangeRemoved', data: { id: 'cidr-0', range: '10.0.0.0/24' } })
      .when(add({ ...VPN, id: 'cidr-more' }))
      .yields(added({ ...VPN, id: 'cidr-more' }));
  });

  it('changes what the request names, and nothing if it is the same', () => {
    given(created({}, HOME))
      .when(change({ name: 'HQ' }))
      .yields({ type: 'IpAllowlistUpdated', data: { ...CONTENT, name: 'HQ' } });
    given(created({}, HOME))
      .when(change({ name: 'Offices' }))
      .yields();
    given(created({}, HOME, VPN))
      .when(update(VPN.id, { description: null }))
      .yields(updated({ ...VPN, description: null }));
    given(created({}, HOME))
      .when(update(HOME.id, { range: '203.0.113.0/24', enabled: true }))
      .yields();
    given(created({}, HOME))
      .when(update('cidr-other', { enabled: false }))
      .refuses('not-found', '');
    given(created({}, HOME)).when(remove('cidr-other')).refuses('not-found', '');
  });

  it('is deleted once', () => {
    const deleted: IpAllowlistEvent = { type: 'IpAllowlistDeleted', data: { name: 'Offices' } };
    given(created({}, HOME)).when({ type: 'DeleteIpAllowlist', data: {} }).yields(deleted);
    given(created({}, HOME), deleted).when({ type: 'DeleteIpAllowlist', data: {} }).refuses('not-found', '');
    given(created({}, HOME), deleted).when(add(VPN)).refuses('not-found', '');
  });
});

describe('a change that would lock its caller out', () => {
  it('is refused and names the address', () => {
    given()
      .when(create({}, [VPN]))
      .refuses('unprocessable', LOCKED_OUT, '/data/relationships/cidr-ranges/data');
    given(created()).when(add(VPN)).refuses('unprocessable', LOCKED_OUT, '/data/attributes/range');
    given(created({}, HOME, VPN))
      .when(remove(HOME.id))
      .refuses('unprocessable', LOCKED_OUT);
    given(created({}, HOME, VPN))
      .when(update(HOME.id, { enabled: false }))
      .refuses('unprocessable', LOCKED_OUT, '/data/attributes/enabled');
    given(created({}, HOME))
      .when(update(HOME.id, { range: '192.0.2.0/24' }))
      .refuses('unprocessable', LOCKED_OUT, '/data/attributes/range');
    given(created({ enforcementScope: 'all_agent_pools' }, VPN))
      .when(change({ enforcementScope: 'organization' }))
      .refuses('unprocessable', LOCKED_OUT, '/data/attributes/enforcement-scope');
  });

  it('is possible if the caller is not restricted', () => {
    given()
      .when(create({}, [VPN], null))
      .yields(created({}, VPN));
    given(created({}, HOME, VPN))
      .when(remove(HOME.id, null))
      .yields({ type: 'IpAllowlistRangeRemoved', data: { id: HOME.id, range: HOME.range } });
  });

  it('cannot happen in a list for agents, or if no range of the list is enabled afterwards', () => {
    given()
      .when(create({ enforcementScope: 'all_agent_pools' }, [VPN]))
      .yields(created({ enforcementScope: 'all_agent_pools' }, VPN));
    const off = { ...VPN, enabled: false };
    given(created()).when(add(off)).yields(added(off));
    given(created({}, HOME))
      .when(remove(HOME.id))
      .yields({ type: 'IpAllowlistRangeRemoved', data: { id: HOME.id, range: HOME.range } });
    given(created({}, HOME))
      .when(update(HOME.id, { enabled: false }))
      .yields(updated({ ...HOME, enabled: false }));
  });
});

describe('the agent pools of an IP allowlist', () => {
  const selected = created({ enforcementScope: 'selected_agent_pools' }, HOME);
  const withPools = (...agentPools: string[]): IpAllowlistEvent => ({
    type: 'IpAllowlistAgentPoolsAdded',
    data: { agentPools },
  });

  it('are assigned once and removed once', () => {
    given(selected)
      .when(assign('apool-1', 'apool-2', 'apool-1'))
      .yields(withPools('apool-1', 'apool-2'));
    given(selected, withPools('apool-1')).when(assign('apool-1')).yields();
    given(selected, withPools('apool-1', 'apool-2'))
      .when(unassign('apool-2', 'apool-3'))
      .yields({ type: 'IpAllowlistAgentPoolsRemoved', data: { agentPools: ['apool-2'] } });
    given(selected).when(unassign('apool-1')).yields();
  });

  it('can be assigned only with the scope selected_agent_pools, and are removed with this scope', () => {
    given(created())
      .when(assign('apool-1'))
      .refuses('unprocessable', /^Agent pools can be assigned only to a list/, '/data');
    const toAll: IpAllowlistEvent = {
      type: 'IpAllowlistUpdated',
      data: { ...CONTENT, enforcementScope: 'all_agent_pools' },
    };
    const back: IpAllowlistEvent = {
      type: 'IpAllowlistUpdated',
      data: { ...CONTENT, enforcementScope: 'selected_agent_pools' },
    };
    given(selected, withPools('apool-1'), toAll, back).when(unassign('apool-1')).yields();
  });

  it('are at most 500', () => {
    const many = Array.from({ length: 500 }, (_, n) => `apool-${n}`);
    given(selected, withPools(...many))
      .when(assign('apool-more'))
      .refuses('unprocessable', 'A list can have at most 500 agent pools', '/data');
  });
});
