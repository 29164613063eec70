import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { act, createAuditedOrganization } from '../../../../test/support/audited-organization.js';
import { expectStatus, makeMember, makeOrganization, makeToken } from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { DAY_MS, listActions, readTrail } from '../spec.js';

let server: TestServer;
let owner: ApiTestClient;
let workspace: string;
let reader: ApiTestClient;
let token: string;
const clock = new AdjustableClock();
const PATH = '/api/v2/organizations/acme/audit-trail';

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  const acme = await createAuditedOrganization(server, 'acme');
  ({ workspace, reader, token } = acme);
  owner = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  await makeOrganization(server, 'rival');
});
afterAll(() => server.close());
afterEach(() => {
  clock.offsetMs = 0;
});

describe('GET /organizations/:organization/audit-trail', () => {
  it('shows owners, site admins and both kinds of tokens the same entries as the path of tokens', async () => {
    const audit = await makeToken(server, '/api/v2/organizations/acme/authentication-token?token=audit-trails');
    const { data } = await readTrail(reader);
    for (const api of [owner, server, reader, server.as(audit)]) {
      expect(expectStatus(await api.get(`${PATH}?page[size]=3`), 200).body.data).toEqual(data.slice(0, 3));
    }
  });

  it('does not exist for members, owners of other organizations, and organizations without a trail', async () => {
    const member = await makeMember(server, 'acme', 'mia');
    expectStatus(await member.get(PATH), 404);
    expectStatus(await owner.get('/api/v2/organizations/rival/audit-trail'), 404);
    expectStatus(await owner.get('/api/v2/organizations/unheard-of/audit-trail'), 404);
    expectStatus(await owner.get('/api/v2/organization/audit-trail'), 404);
  });

  it('is counted by hour', async () => {
    const path = '/api/v2/organizations/acme/audit-trail-activity';
    const count = async (query: string): Promise<readonly any[]> =>
      expectStatus(await owner.get(`${path}?${query}`), 200).body.data.attributes.days;
    const listCounts = (days: readonly any[]): readonly number[] =>
      days.flatMap(({ hours }) => hours.map((hour: any) => hour.count));
    // Waits until the trail has all entries.
    const days = await count('filter[days]=2&filter[time-zone]=Asia/Kolkata');
    const { pagination } = expectStatus(await owner.get(`${PATH}?page[size]=1`), 200).body;
    expect(days.map(({ hours }) => hours.length)).toEqual([24, 24]);
    expect(listCounts(days).reduce((sum, each) => sum + each, 0)).toBe(pagination.total_count);
    await act(server, workspace, 'lock');
    await act(server, workspace, 'unlock');
    const after = await count('filter[days]=2&filter[time-zone]=Asia/Kolkata');
    expect(listCounts(after).reduce((sum, each) => sum + each, 0)).toBe(pagination.total_count + 2);
    // A day later, nothing has happened yet.
    clock.pass({ days: 3 });
    expect(listCounts(await count('filter[days]=2')).every((each) => each === 0)).toBe(true);
  });

  it('has no counts for members, and for owners of other organizations', async () => {
    const member = await makeMember(server, 'acme', 'moritz');
    expectStatus(await member.get('/api/v2/organizations/acme/audit-trail-activity'), 404);
    expectStatus(await owner.get('/api/v2/organizations/rival/audit-trail-activity'), 404);
  });

  it('filters and continues after a cursor', async () => {
    const { body: first } = expectStatus(await owner.get(`${PATH}?filter[resource-type]=workspace&page[size]=1`), 200);
    await act(server, workspace, 'lock');
    const after = `${PATH}?after=${first.data[0].id}&filter[action]=lock`;
    expect(listActions(expectStatus(await owner.get(after), 200).body)).toEqual(['workspace lock']);
    await act(server, workspace, 'unlock');
  });

  it('pages through two trails with one filter, each with its own bound', async () => {
    const query = '?since=2026-01-01&page[size]=2&page[number]=1';
    const { pagination } = await readTrail(reader, { since: '2026-01-01', 'page[size]': '1000' });
    await server.get(`/api/v2/organizations/rival/audit-trail${query}`);
    const { body } = expectStatus(await server.get(`${PATH}${query}`), 200);
    expect(body.pagination.total_count).toBe(pagination.total_count);
  });

  it('answers all entries as a file if the link asks for lines', async () => {
    const answer = await fetch(`${server.url}${PATH}?format=ndjson&filter[action]=create`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="acme-audit-trail.ndjson"');
    const lines = (await answer.text()).trimEnd().split('\n');
    const { body } = await owner.get(`${PATH}?format=json&filter[action]=create`);
    expect(lines.map((line) => JSON.parse(line) as unknown).toReversed()).toEqual(body.data);
  });

  it('refuses a format that it does not have', async () => {
    const { body } = expectStatus(await owner.get(`${PATH}?format=csv`), 422);
    expect(body.errors[0]).toMatchObject({
      detail: 'format: must be one of json, ndjson, ocsf, cef, parquet',
      source: { parameter: 'format' },
    });
  });
});

describe('GET /organizations/:organization/audit-trail/:id', () => {
  it('shows the entry, its event and the other entries of the request', async () => {
    const body = { data: { type: 'teams', attributes: { name: 'crew' } } };
    expectStatus(await owner.post('/api/v2/organizations/acme/teams', body), 201);
    const [data] = expectStatus(await owner.get(`${PATH}?page[size]=1`), 200).body.data;
    const answer = expectStatus(await owner.get(`${PATH}/${data.id}`), 200).body;
    const [event] = (await server.store.log.stream(data.resource.id)).slice(-1);
    expect(answer).toEqual({
      data,
      event: {
        type: `cadastre.TeamCreated.v${event?.schemaVersion}`,
        time: event?.time,
        stream: event?.stream,
        version: event?.version,
        transaction: event?.transaction,
        position: event?.position,
        correlation_id: data.request.id,
        causation_id: null,
        topic: null,
      },
      related: [],
    });
  });

  it('lists the entries that one request has caused', async () => {
    const { body } = expectStatus(await owner.get(`${PATH}?page[size]=1000`), 200);
    const created = body.data.find(({ resource: { type } }: any) => type === 'organization');
    const { related } = expectStatus(await owner.get(`${PATH}/${created.id}`), 200).body;
    const expected = body.data.filter(
      ({ id, request }: any) => id !== created.id && request.id !== null && request.id === created.request.id,
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(related).toEqual(expected.toReversed());
  });

  it('does not exist for members, in other organizations, with an unknown id, and after its retention', async () => {
    const [{ id }] = (await owner.get(`${PATH}?page[size]=1`)).body.data;
    const member = await makeMember(server, 'acme', 'max');
    expectStatus(await member.get(`${PATH}/${id}`), 404);
    expectStatus(await server.get(`/api/v2/organizations/rival/audit-trail/${id}`), 404);
    expectStatus(await owner.get(`${PATH}/${id.replace(/^./, 'f')}`), 404);
    expectStatus(await owner.get(`${PATH}/not-an-id`), 404);
    clock.offsetMs = 15 * DAY_MS;
    expectStatus(await server.get(`${PATH}/${id}`), 404);
  });
});
