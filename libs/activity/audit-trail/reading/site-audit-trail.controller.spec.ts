import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { listViews, rebuildView, verifyView, type RebuildableView } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { createAuditedOrganization } from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import { expectStatus, makeMember, makeToken } from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { createAuditTrailDefinition } from '../audit-trail.module.js';
import { DAY_MS, listActions, type TestTrailPage } from '../spec.js';

let server: TestServer;
let owner: ApiTestClient;
let reader: ApiTestClient;
let view: RebuildableView;
const clock = new AdjustableClock();
const PATH = '/api/v2/admin/audit-trail';

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  const acme = await createAuditedOrganization(server, 'acme');
  ({ reader } = acme);
  owner = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  const [trail] = listViews([createAuditTrailDefinition(server.store.kinds)]);
  if (!trail) throw new Error('the audit trail has no view');
  view = trail;
});
afterAll(() => server.close());
afterEach(() => {
  clock.offsetMs = 0;
});

const readSiteTrail = async (query: Readonly<Record<string, string>> = {}): Promise<TestTrailPage> =>
  expectStatus(await server.get(`${PATH}?${new URLSearchParams(query).toString()}`), 200).body;

describe('GET /admin/audit-trail', () => {
  it('records what belongs to no organization, and what concerns organizations as a whole', async () => {
    const page = await readSiteTrail({ 'page[size]': '1000' });
    expect(listActions(page)).toEqual(expect.arrayContaining(['user create', 'organization create']));
    expect(new Set(page.data.map(({ auth }) => auth.organization_id))).toEqual(new Set(['site']));
    const names = page.data.filter(({ resource: { type } }) => type === 'user').map(({ resource }) => resource.meta);
    expect(names).toContainEqual({ user: 'olga', site_admin: false });
  });

  it('records nothing of what happens inside an organization', async () => {
    const { data } = await readSiteTrail({ 'page[size]': '1000' });
    const inside = await server.database.rows<{ id: string }>(sql`
      select id from event_store.events
       where organization is not null and type not in ('OrganizationCreated', 'OrganizationFeatureSetChanged')`);
    expect(inside.length).toBeGreaterThan(0);
    const ids = new Set(inside.map(({ id }) => id));
    expect(data.filter(({ id }) => ids.has(id))).toEqual([]);
  });

  it('records a change of the subscription in both trails', async () => {
    const relationships = { 'feature-set': { data: { type: 'feature-sets', id: 'fs-free' } } };
    await server.post('/api/v2/admin/organizations/acme/subscription', {
      data: { type: 'subscriptions', relationships },
    });
    const { data } = await readSiteTrail({ 'page[size]': '1' });
    expect(data[0]?.resource).toMatchObject({ type: 'organization', action: 'update', meta: { feature_set: 'free' } });
    await server.post('/api/v2/admin/organizations/acme/subscription', {
      data: {
        type: 'subscriptions',
        relationships: { 'feature-set': { data: { type: 'feature-sets', id: 'fs-everything' } } },
      },
    });
  });

  it('filters, continues after a cursor, and finds people by their name', async () => {
    const { data } = await readSiteTrail({ 'filter[resource-type]': 'user', 'page[size]': '1' });
    const member = await makeMember(server, 'acme', 'max');
    expectStatus(await member.get('/api/v2/account/details'), 200);
    const { data: later } = await readSiteTrail({ after: data[0]?.id ?? '', 'filter[action]': 'create' });
    expect(later.map(({ resource }) => resource.meta)).toContainEqual({ user: 'max', site_admin: false });
    const byName = await readSiteTrail({ 'filter[actor]': data[0]?.auth.description ?? '' });
    expect(byName.data.length).toBeGreaterThan(0);
    const refusal = expectStatus(await server.get(`${PATH}?after=${data[0]?.id.replace(/^./, 'f')}`), 422).body;
    expect(refusal.errors[0].meta?.refusal).not.toBe(true);
  });

  it('answers all entries as a file if the link asks for lines', async () => {
    const answer = await fetch(`${server.url}${PATH}?format=ndjson`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    });
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="site-audit-trail.ndjson"');
    const lines = (await answer.text()).trimEnd().split('\n');
    const { data } = await readSiteTrail({ 'page[size]': '1000' });
    expect(lines.map((line) => JSON.parse(line) as unknown).toReversed()).toEqual(data);
  });

  it('does not exist for owners, members, tokens of organizations and callers without a token', async () => {
    const audit = await makeToken(server, '/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const [{ id } = { id: '' }] = (await readSiteTrail({ 'page[size]': '1' })).data;
    for (const api of [owner, reader, server.as(audit), await makeMember(server, 'acme', 'mia')]) {
      for (const path of [PATH, `${PATH}?format=ndjson`, `${PATH}/${id}`]) expectStatus(await api.get(path), 404);
    }
    expectStatus(await server.as(null).get(PATH), 401);
    // No organization can have this id, or read the trail by its name.
    for (const api of [owner, server]) expectStatus(await api.get('/api/v2/organizations/site/audit-trail'), 404);
  });

  it('shows its entries for 14 days', async () => {
    const [{ id } = { id: '' }] = (await readSiteTrail({ 'page[size]': '1' })).data;
    expect(expectStatus(await server.get(`${PATH}/${id}`), 200).body.data.id).toBe(id);
    clock.offsetMs = 15 * DAY_MS;
    expect((await readSiteTrail()).data).toEqual([]);
    expectStatus(await server.get(`${PATH}/${id}`), 404);
  });

  it('equals the trail that is computed from the whole log, and asks to retry until an upgraded server has it', async () => {
    await waitForFollowers(server.store, 'audit_trail');
    const before = await readSiteTrail({ 'page[size]': '1000' });
    expect(await verifyView(server.store, view, clock.now())).toEqual([]);
    // The tables of a server that had no trail of the site.
    await server.database.rows(sql`delete from views.audit_trail_entries where organization = 'site'`);
    await server.database.rows(sql`delete from views.audit_trails where organization = 'site'`);
    expectStatus(await server.get(PATH), 503);
    await rebuildView(server.store, view, { now: new Date() });
    expect(await readSiteTrail({ 'page[size]': '1000' })).toEqual(before);
  });
});
