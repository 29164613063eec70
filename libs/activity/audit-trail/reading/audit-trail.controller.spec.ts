import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type Sql } from '#platform/kernel';
import { rebuildView, listViews } from '#storage/event-store';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import {
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeToken,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { tamper } from '../../../../test/support/trail-signing.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { formatAction, listActions, requestTrail, DAY_MS, listIds, readTrail, type TestTrailPage } from '../spec.js';

let server: TestServer;
const clock = new AdjustableClock();
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
});
afterAll(() => server.close());
afterEach(() => {
  clock.offsetMs = 0;
});

const newAuditedOrganization = (): Promise<AuditedOrganization> =>
  createAuditedOrganization(server, `organization-${(number += 1)}`);

/** Locks and unlocks so many times. Each time adds two entries. */
const lockAndUnlock = async (workspace: string, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) {
    await act(server, workspace, 'lock');
    await act(server, workspace, 'unlock');
  }
};

const pageOf = (reader: ApiTestClient, number: number, size: number, since?: string): Promise<TestTrailPage> =>
  readTrail(reader, { 'page[number]': String(number), 'page[size]': String(size), ...(since ? { since } : {}) });

/** Returns the ids of all pages, as most readers do: it continues while there is a next page. */
const readAll = async (reader: ApiTestClient, size: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let next: number | null = 1; next !== null;) {
    const page: TestTrailPage = await pageOf(reader, next, size);
    ids.push(...listIds(page));
    next = page.pagination.next_page;
  }
  return ids;
};

const timesOf = ({ data }: TestTrailPage): string[] => data.map(({ timestamp }) => timestamp);

describe('GET /organization/audit-trail', () => {
  it('returns what happened, newest first, in the format that clients parse', async () => {
    const { id, workspace, reader } = await newAuditedOrganization();
    // The audit trail shifts timestamps of whole seconds and of simultaneous events; this time needs no shift.
    clock.offsetMs = 2_500 - (Date.now() % 1_000);
    await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'spring cleaning' });
    const { data } = await readTrail(reader);
    const [account, [event]] = await Promise.all([
      server.get('/api/v2/account/details'),
      server.store.log.stream(workspace).then((events) => events.slice(-1)),
    ]);
    expect(data[0]).toEqual({
      id: event?.id,
      version: '0',
      type: 'Resource',
      timestamp: event?.time,
      auth: {
        accessor_id: account.body.data.id as string,
        description: 'admin',
        type: 'Client',
        impersonator_id: null,
        organization_id: id,
      },
      request: { id: event?.context.request.id, address: '127.0.0.1', user_agent: 'node' },
      resource: { id: workspace, type: 'workspace', action: 'lock', meta: { reason: 'spring cleaning' } },
    });
    expect(data.map(formatAction).toReversed().slice(0, 6)).toEqual([
      'organization create',
      'project create',
      'team create',
      'team add_member',
      'organization_user create',
      'workspace create',
    ]);
  });

  it('has a different, later timestamp for every entry, even for simultaneous events', async () => {
    const { reader } = await newAuditedOrganization();
    const times = timesOf(await readTrail(reader));
    expect(times.length).toBeGreaterThan(5);
    expect(times).toEqual([...new Set(times)].toSorted().toReversed());
  });

  it('contains a change as soon as the request for it has been answered', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    for (const action of ['lock', 'unlock', 'lock', 'unlock', 'lock', 'unlock'] as const) {
      await act(server, workspace, action);
      const { data } = await readTrail(reader, { 'page[size]': '1' });
      expect(data.map(formatAction)).toEqual([`workspace ${action}`]);
    }
  });

  it("contains only entries of the caller's organization", async () => {
    const [first, second] = [await newAuditedOrganization(), await newAuditedOrganization()];
    await Promise.all([lockAndUnlock(first.workspace, 5), lockAndUnlock(second.workspace, 5)]);
    for (const { id, workspace, reader } of [first, second]) {
      const { data } = await readTrail(reader);
      expect(new Set(data.map(({ auth }) => auth.organization_id))).toEqual(new Set([id]));
      const locked = data.filter(({ resource: { type, action } }) => type === 'workspace' && action === 'lock');
      expect(locked.map(({ resource: { id } }) => id)).toEqual(Array<string>(5).fill(workspace));
    }
  });

  it.each(['application/vnd.api+json', 'text/html', '*/*'])(
    'returns plain JSON if the client accepts %s',
    async (accept) => {
      const { token } = await newAuditedOrganization();
      const headers = { authorization: `Bearer ${token}`, accept };
      const response = await fetch(`${server.url}/api/v2/organization/audit-trail`, { headers });
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(Object.keys((await response.json()) as object)).toEqual(['data', 'pagination']);
    },
  );
});

describe('CADASTRE_AUDIT_CLIENT_DETAILS', () => {
  it('omits address and user agent of requests if it is off', async () => {
    const discreet = await startTestServer({ followers: true, env: { CADASTRE_AUDIT_CLIENT_DETAILS: 'off' } });
    try {
      const { name } = await makeOrganization(discreet, 'shy');
      const reader = discreet.as(await makeOrganizationToken(discreet, name));
      const { data } = await readTrail(reader);
      expect(new Set(data.map(({ request }) => Object.keys(request).join()))).toEqual(new Set(['id']));
    } finally {
      await discreet.close();
    }
  });
});

describe('permission to read the audit trail', () => {
  it('is granted to the organization token and to the audit-trails token', async () => {
    const { name, reader } = await newAuditedOrganization();
    const path = `/api/v2/organizations/${name}/authentication-token?token=audit-trails`;
    const auditor = server.as(await makeToken(server, path));
    expect(listIds(await readTrail(auditor))).toEqual(listIds(await readTrail(reader)));
  });

  it('is denied to other callers: 404 with a valid token, 401 without one', async () => {
    const { name, ownersTeam, reader } = await newAuditedOrganization();
    const team = await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`);
    expect((await requestTrail(server)).status).toBe(404);
    expect((await requestTrail(server.as(team))).status).toBe(404);
    expect((await requestTrail(server.as(null))).status).toBe(401);
    expect((await requestTrail(server.as('nobody.atlasv1.nothing'))).status).toBe(401);
    await readTrail(reader);
    await server.delete(`/api/v2/organizations/${name}/authentication-token`);
    expect((await requestTrail(reader)).status).toBe(401);
  });

  it('ends when the organization is deleted', async () => {
    const { name, reader } = await newAuditedOrganization();
    await readTrail(reader);
    expect((await server.delete(`/api/v2/organizations/${name}`)).status).toBe(204);
    expect((await requestTrail(reader)).status).toBe(401);
  });

  it('is checked before the query parameters', async () => {
    expect((await requestTrail(server, 'since=tomorrow')).status).toBe(404);
  });
});

/** Rewrites events into the form of an earlier version. The log rejects updates unless triggers are disabled. */
const rewriteEvents = async (update: Sql): Promise<void> => {
  const session = await server.database.session();
  try {
    await session.run(sql`set session_replication_role = replica`);
    await session.run(update);
  } finally {
    await session.close();
  }
};

describe('the audit entitlement', () => {
  const move = async (name: string, featureSet: string): Promise<void> => {
    const body = resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id: featureSet } } });
    const answer = await server.post(`/api/v2/admin/organizations/${name}/subscription`, body);
    expect(answer.status).toBe(200);
  };
  const entitled = async (name: string): Promise<unknown> =>
    (await server.get(`/api/v2/organizations/${name}/entitlement-set`)).body.data.attributes['audit-logging'];

  it('includes an audit trail, which records the loss of the entitlement and then nothing until the entitlement returns', async () => {
    const { name, workspace, reader } = await newAuditedOrganization();
    const before = listIds(await readTrail(reader));
    await move(name, 'fs-free');
    expect(await entitled(name)).toBe(false);
    expect((await requestTrail(reader)).status).toBe(404);
    await lockAndUnlock(workspace, 1);
    await move(name, 'fs-everything');
    await act(server, workspace, 'lock');
    expect(await entitled(name)).toBe(true);
    const page = await readTrail(reader);
    expect(page.data.slice(0, -before.length).map(({ resource: { action, meta } }) => [action, meta])).toEqual([
      ['lock', { reason: '' }],
      ['update', { feature_set: 'free' }],
    ]);
    expect(listIds(page).slice(-before.length)).toEqual(before);
  });

  it('starts an audit trail with the change itself if the event of the change has schema version 1', async () => {
    const { name, id, reader } = await newAuditedOrganization();
    await move(name, 'fs-free');
    await move(name, 'fs-everything');
    await rewriteEvents(sql`
      update event_store.events set schema_version = 1, data = data - 'trailBegins'
       where stream = ${id} and type = 'OrganizationFeatureSetChanged'`);
    // When such events were written, there were no logs.
    await tamper(server.database, sql`delete from audit_trail.leaves where organization = ${id}`);
    await tamper(server.database, sql`delete from audit_trail.logs where organization = ${id}`);
    const [view] = listViews([createAuditTrailDefinition(server.store.kinds)]);
    if (!view) throw new Error('the audit trail has no view');
    await rebuildView(server.store, view, { now: new Date() });
    const [granted, removed] = (await readTrail(reader)).data.map(({ resource: { meta } }) => meta);
    expect([granted, removed]).toEqual([{ feature_set: 'everything' }, { feature_set: 'free' }]);
  });

  it('starts an empty audit trail if the organization was created without it', async () => {
    const free = await startTestServer({ followers: true, env: { CADASTRE_FEATURE_SET: 'free' } });
    try {
      const organization = await makeOrganization(free, 'shed');
      const reader = free.as(await makeOrganizationToken(free, 'shed'));
      expect((await requestTrail(reader)).status).toBe(404);
      const body = resource('subscriptions', {}, { 'feature-set': { data: { id: 'fs-everything' } } });
      await free.post(`/api/v2/admin/organizations/${organization.name}/subscription`, body);
      const empty = await readTrail(reader, { since: '2026-01-01', 'page[number]': '1' });
      expect(empty).toMatchObject({ data: [], pagination: { total_count: 0, total_pages: 0, next_page: null } });
      expect((await readTrail(reader, { after: '' })).data).toEqual([]);
      await makeProject(free, 'shed', 'first');
      expect(listActions(await readTrail(reader))).toEqual(['project create']);
    } finally {
      await free.close();
    }
  });
});

describe('the since parameter', () => {
  it('returns entries later than a timestamp, without the entry of that timestamp', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 2);
    const times = timesOf(await readTrail(reader));
    for (const [index, since] of times.entries()) {
      expect(timesOf(await readTrail(reader, { since }))).toEqual(times.slice(0, index));
    }
  });

  it('accepts the same time in every format', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 2);
    const times = timesOf(await readTrail(reader));
    const since = times[2] ?? '';
    const east = new Date(Date.parse(since) + 2 * 60 * 60 * 1_000).toISOString().slice(0, -1);
    for (const form of [
      since.slice(0, -1),
      `${since.slice(0, -1)}999`,
      `${since.slice(0, -1)}%2B00:00`,
      `${east}+02:00`,
      `${since.slice(0, -1).replaceAll(/[-:]/g, '')}Z`,
    ]) {
      expect(timesOf(await readTrail(reader, `since=${form}`))).toEqual(times.slice(0, 2));
    }
    const fullSecond = `${since.slice(0, 19)}Z`;
    expect(timesOf(await readTrail(reader, { since: fullSecond }))).toEqual(
      times.filter((time) => time > `${since.slice(0, 19)}.999Z`),
    );
    expect(timesOf(await readTrail(reader, { since: '2026-01-01' }))).toEqual(times);
    expect(timesOf(await readTrail(reader, { since: '0000-01-01' }))).toEqual(times);
    expect(timesOf(await readTrail(reader, { since: '' }))).toEqual(times);
  });

  it('returns no entries for a time in the future', async () => {
    const { reader } = await newAuditedOrganization();
    for (const since of ['2200-01-01', '9999-12-31T23:59:59.999-23:59']) {
      expect(await readTrail(reader, { since })).toEqual({
        data: [],
        pagination: {
          current_page: 1,
          prev_page: null,
          next_page: null,
          total_pages: 0,
          total_count: 0,
          page_size: 1_000,
        },
      });
    }
  });

  it('returns 422 if it is no timestamp', async () => {
    const { reader } = await newAuditedOrganization();
    const { status, body } = await requestTrail(reader, { since: 'last tuesday' });
    expect(status).toBe(422);
    expect(body.errors[0]).toMatchObject({ status: '422', source: { parameter: 'since' } });
  });
});

describe('pages of the audit trail', () => {
  it('describe themselves in the pagination, under either name of the page parameter', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 4);
    const all = await readTrail(reader);
    const total = all.data.length;
    expect(all.pagination).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: total,
      page_size: 1_000,
    });
    const second = await pageOf(reader, 2, 4);
    expect(second.pagination).toEqual({
      current_page: 2,
      prev_page: 1,
      next_page: 3,
      total_pages: Math.ceil(total / 4),
      total_count: total,
      page_size: 4,
    });
    expect(listIds(second)).toEqual(listIds(all).slice(4, 8));
    expect(await readTrail(reader, 'page=2&page[size]=4')).toEqual(second);
    expect(await readTrail(reader, { 'page[number]': '70' })).toEqual({
      data: [],
      pagination: { ...all.pagination, current_page: 70, prev_page: null },
    });
  });

  it('have at most a thousand entries, and return 400 for parameters that are not numbers', async () => {
    const { reader } = await newAuditedOrganization();
    expect((await readTrail(reader, { 'page[size]': '5000' })).pagination.page_size).toBe(1_000);
    for (const query of ['page[number]=0', 'page[size]=0', 'page=x', 'page[size]=-1', 'page[number]=1e3']) {
      expect((await requestTrail(reader, query)).status).toBe(400);
    }
  });

  it('do not shift while new events arrive', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 3);
    const all = listIds(await readTrail(reader));
    const read: TestTrailPage[] = [];
    for (let next: number | null = 1; next !== null;) {
      const page: TestTrailPage = await pageOf(reader, next, 3);
      read.push(page);
      next = page.pagination.next_page;
      await lockAndUnlock(workspace, 2);
    }
    expect(listIds(...read)).toEqual(all);
    expect(new Set(read.map(({ pagination }) => pagination.total_count))).toEqual(new Set([all.length]));
  });

  it('do not shift when another reader with the same token starts', async () => {
    const { workspace, name, reader } = await newAuditedOrganization();
    const path = `/api/v2/organizations/${name}/authentication-token?token=audit-trails`;
    const otherReader = server.as(await makeToken(server, path));
    await lockAndUnlock(workspace, 3);
    const all = listIds(await readTrail(reader));
    const first = await pageOf(reader, 1, 5);
    await act(server, workspace, 'lock');
    expect(listIds(await pageOf(otherReader, 1, 5))).not.toEqual(listIds(first));
    expect(listIds(first, await pageOf(reader, 2, 5))).toEqual(all.slice(0, 10));
  });

  it('contain all newer entries when the same reader starts again', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 3);
    await readAll(reader, 3);
    for (let round = 0; round < 4; round += 1) {
      await act(server, workspace, round % 2 === 0 ? 'lock' : 'unlock');
      expect(await readAll(reader, 3)).toEqual(listIds(await readTrail(reader)));
    }
  });

  // Cortex XSIAM reads page 1 for the number of pages and discards its entries. Then it reads all pages concurrently,
  // from last to first.
  it('lose no entry for a reader that requests them concurrently from last to first', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await lockAndUnlock(workspace, 6);
    const received = new Set<string>();
    let since = '2026-01-01T00:00:00.000Z';
    for (let poll = 0; poll < 5; poll += 1) {
      const { pagination } = await pageOf(reader, 1, 3, since);
      await lockAndUnlock(workspace, 1);
      const numbers = Array.from({ length: pagination.total_pages }, (_, index) => pagination.total_pages - index);
      const requests = numbers.map((page) => pageOf(reader, page, 3, since));
      await lockAndUnlock(workspace, 1);
      const pages = await Promise.all(requests);
      const got = listIds(...pages);
      expect(got.length).toBe(new Set(got).size);
      for (const id of got) received.add(id);
      since = pages.flatMap(timesOf).toSorted().at(-1) ?? since;
    }
    // The reader has received every entry up to the latest one that it received.
    const later = new Set(listIds(await readTrail(reader, { since })));
    expect([...received].toSorted()).toEqual(
      listIds(await readTrail(reader))
        .filter((id) => !later.has(id))
        .toSorted(),
    );
  });
});

describe('retention of the audit trail', () => {
  it('hides entries older than fourteen days, even before they are pruned', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    const before = listIds(await readTrail(reader));
    clock.offsetMs = 13.9 * DAY_MS;
    expect(listIds(await readTrail(reader))).toEqual(before);
    clock.offsetMs = 14.1 * DAY_MS;
    expect(await readTrail(reader)).toMatchObject({ data: [], pagination: { total_count: 0, total_pages: 0 } });
    await act(server, workspace, 'lock');
    expect(listActions(await readTrail(reader, { since: '2020-01-01' }))).toEqual(['workspace lock']);
  });
});
