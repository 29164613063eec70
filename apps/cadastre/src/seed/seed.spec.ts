import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type RecordedEvent } from '#platform/kernel';
import { moduleDefinitions } from '../../../modules.js';
import { readWholeLog, waitForFollowers } from '../../../../test/support/event-log.js';
import { makeOrganization, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { seed } from './seed.js';
import { parseCount, parsePrefix, type SeedOptions } from './seed-options.js';
import { createTimeline } from './seed-plan.js';
import { createSeededIds, describeResource } from './seeded-ids.js';

const OPTIONS: SeedOptions = {
  prefix: 'demo',
  organizations: 2,
  projects: 1,
  workspaces: 60,
  trailEntries: 200,
  users: 3,
  days: 10,
  seed: 7,
  connections: 2,
};

/** Returns the names of all members at all levels, without values. */
const describeShape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeShape);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, describeShape(member)]));
};

const describeEvent = ({ type, schemaVersion, data, context }: RecordedEvent) => ({
  type,
  schemaVersion,
  data: describeShape(data),
  context: Object.keys(context).toSorted(),
  auth: context.auth,
});

describe('seed', () => {
  let server: TestServer;
  let seeded: readonly RecordedEvent[];

  beforeAll(async () => {
    server = await startTestServer({ followers: true });
    await seed(server.runtime, OPTIONS);
    seeded = (await readWholeLog(server.store)).filter(({ context }) => context.accessor.name.startsWith('demo-user'));
  });
  afterAll(() => server.close());

  it('adds the requested number of organizations, projects and workspaces', async () => {
    const organizations = await server.get('/api/v2/organizations');
    expect(organizations.body.data.map(({ id }: { id: string }) => id)).toEqual(['demo-1', 'demo-2']);
    for (const name of ['demo-1', 'demo-2']) {
      const workspaces = await server.get(`/api/v2/organizations/${name}/workspaces?page[size]=1`);
      expect(workspaces.body.meta.pagination['total-count']).toBe(OPTIONS.workspaces);
      const projects = await server.get(`/api/v2/organizations/${name}/projects`);
      expect(projects.body.data).toHaveLength(2);
    }
  });

  it('writes views and snapshots that match the log', async () => {
    for (const follower of ['audit_trail', 'workspace_history']) await waitForFollowers(server.store, follower);
    await expectViewsMatchLog(server, moduleDefinitions);
  });

  it('gives each audit trail the requested number of entries', async () => {
    const rows = await server.database.rows<{ length: number }>(
      sql`select length from audit_trails where organization <> 'site' order by length`,
    );
    expect(rows).toHaveLength(OPTIONS.organizations);
    // A lock and its unlock are two entries.
    for (const { length } of rows) expect([0, 1]).toContain(Number(length) - OPTIONS.trailEntries);
  });

  it('leaves every workspace unlocked, so that the API can lock and change it', async () => {
    const [workspace] = (await server.get('/api/v2/organizations/demo-1/workspaces')).body.data;
    expect((await server.post(`/api/v2/workspaces/${workspace.id}/actions/lock`)).status).toBe(200);
    const body = resource('workspaces', { description: 'changed' });
    expect((await server.patch(`/api/v2/workspaces/${workspace.id}`, body)).status).toBe(200);
  });

  it('appends events of the same shape as those of requests', async () => {
    await makeOrganization(server, 'by-hand');
    const bindings = [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }];
    const create = resource(
      'workspaces',
      { name: 'network', description: 'by hand' },
      { 'tag-bindings': { data: bindings } },
    );
    const created = await server.post('/api/v2/organizations/by-hand/workspaces', create);
    const { id, relationships } = created.body.data;
    await server.patch(`/api/v2/projects/${relationships.project.data.id}/tag-bindings`, { data: bindings });
    await server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'why' });
    await server.post(`/api/v2/workspaces/${id}/actions/unlock`);
    const requested = (await readWholeLog(server.store)).filter(({ context }) => context.accessor.name === 'admin');
    const describeAll = (events: readonly RecordedEvent[]) =>
      new Map(events.map((event) => [event.type, describeEvent(event)]));
    const ofRequests = describeAll(requested);
    const ofSeed = describeAll(seeded);
    expect([...ofSeed.keys()].filter((type) => !ofRequests.has(type))).toEqual([]);
    for (const [type, description] of ofSeed) expect(description).toEqual(ofRequests.get(type));
  });

  it('refuses names that are taken, and changes nothing', async () => {
    const before = await readWholeLog(server.store);
    await expect(seed(server.runtime, { ...OPTIONS, organizations: 3 })).rejects.toThrow(
      'There are organizations of these names already: demo-1, demo-2. Choose other names with --prefix, or delete them first.',
    );
    expect(await readWholeLog(server.store)).toHaveLength(before.length);
  });

  it('refuses trail entries without workspaces', async () => {
    await expect(seed(server.runtime, { ...OPTIONS, prefix: 'other', workspaces: 0 })).rejects.toThrow(
      '--trail-entries locks and unlocks workspaces, so --workspaces must be at least 1',
    );
  });
});

describe('the plan of a seed', () => {
  it('has the same ids for the same options, and others for another number or prefix', () => {
    const random = { next: () => '', uuid: () => '', secret: () => '' };
    const idsOf = (options: Pick<SeedOptions, 'seed' | 'prefix'>) => {
      const ids = createSeededIds(options, random);
      return [ids.next('org'), ids.next('org'), describeResource(options, 'ws', 1).id];
    };
    const first = idsOf({ seed: 1, prefix: 'a' });
    expect(new Set(first).size).toBe(3);
    expect(first[0]).toMatch(/^org-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(idsOf({ seed: 1, prefix: 'a' })).toEqual(first);
    expect(idsOf({ seed: 2, prefix: 'a' })).not.toEqual(first);
    expect(idsOf({ seed: 1, prefix: 'b' })).not.toEqual(first);
  });

  it('spreads the events evenly over the past days', () => {
    const timeOf = createTimeline(new Date('2026-11-21T00:00:00.000Z'), 10, 5);
    expect([0, 1, 5].map(timeOf)).toEqual([
      '2026-11-11T00:00:00.000Z',
      '2026-11-13T00:00:00.000Z',
      '2026-11-21T00:00:00.000Z',
    ]);
  });

  it.each(['-1', '1.5', 'all', '', '101'])('accepts no number %j', (text) => {
    expect(() => parseCount(0, 100)(text)).toThrow('must be a whole number from 0 to 100');
  });

  it.each(['Seed', '1st', 'a_b', 'a'.repeat(25)])('accepts no prefix %j', (text) => {
    expect(() => parsePrefix(text)).toThrow('must be 1 to 24 lower case letters');
  });
});
