import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { rebuildView, verifyView, verifySnapshots, listViews } from '#storage/event-store';
import { createAuditTrailDefinition } from '#activity/audit-trail';
import { expectStatus, makeOrganization, makeOrganizationToken, resource } from '../../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { formatRowName, CATALOGUE_ROWS } from './facts.catalogue.js';
import { createFact } from '../spec.js';

let server: TestServer;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});
afterAll(() => server.close());

type FactsOrganization = { readonly id: string; readonly path: string; readonly service: ApiTestClient };

/** Creates an organization, and a client with its token that reports facts and reads the audit trail. */
const makeFactsOrganization = async (): Promise<FactsOrganization> => {
  const { name, id } = await makeOrganization(server, `organization-${(number += 1)}`);
  const service = server.as(await makeOrganizationToken(server, name));
  return { id, path: `/api/v2/organizations/${name}/audit-facts`, service };
};

type Entry = { readonly id: string; readonly resource: { readonly type: string; readonly action: string } };

const trailOf = async ({ service }: FactsOrganization): Promise<readonly Entry[]> =>
  expectStatus(await service.get('/api/v2/organization/audit-trail'), 200).body.data;

/** Returns the entries of facts, without those of the organization itself, oldest first. */
const factsInTrail = async (organization: FactsOrganization): Promise<readonly Entry[]> =>
  (await trailOf(organization))
    .filter(({ resource: { type } }) => CATALOGUE_ROWS.some((row) => row.type === type))
    .toReversed();

const results = ({ body }: ApiResponse): readonly string[] =>
  body.facts.map(({ result }: { result: string }) => result);

describe('reporting facts', () => {
  it.each(CATALOGUE_ROWS.map(formatRowName))('records %s in the audit trail unchanged', async (row) => {
    const organization = await makeFactsOrganization();
    const fact = createFact('f1', row);
    const { body } = expectStatus(await organization.service.post(organization.path, fact), 201);
    const [entry, ...rest] = await factsInTrail(organization);
    expect(rest).toEqual([]);
    expect(entry).toMatchObject({
      id: body.facts[0].entry,
      version: '0',
      type: 'Resource',
      auth: { ...fact.auth, organization_id: organization.id },
      request: fact.request,
    });
    expect(entry?.resource).toEqual(fact.resource);
  });

  it('returns the outcome of each fact, and recognizes a repeated fact', async () => {
    const organization = await makeFactsOrganization();
    const first = expectStatus(
      await organization.service.post(organization.path, { facts: [createFact('f1'), createFact('f2')] }),
      201,
    );
    expect(first.headers.get('content-type')).toBe('application/json');
    expect(first.body.facts).toEqual([
      {
        source: 'https://policies.example',
        id: 'f1',
        entry: expect.stringMatching(/^[0-9a-f-]{36}$/),
        result: 'recorded',
      },
      {
        source: 'https://policies.example',
        id: 'f2',
        entry: expect.stringMatching(/^[0-9a-f-]{36}$/),
        result: 'recorded',
      },
    ]);
    const repeated = [createFact('f3'), createFact('f2', 'stack.create'), createFact('f3')];
    const second = expectStatus(await organization.service.post(organization.path, { facts: repeated }), 201);
    expect(results(second)).toEqual(['recorded', 'known', 'known']);
    expect(second.body.facts[1].entry).toBe(first.body.facts[1].entry);
    const third = expectStatus(await organization.service.post(organization.path, createFact('f1')), 200);
    expect(results(third)).toEqual(['known']);
    // The first fact with the id f2 is recorded.
    expect((await factsInTrail(organization)).map(({ resource: { type } }) => type)).toEqual([
      'stack',
      'stack',
      'stack',
    ]);
  });

  it('treats facts with the same id from different services or organizations as different', async () => {
    const [here, there] = [await makeFactsOrganization(), await makeFactsOrganization()];
    expectStatus(await here.service.post(here.path, createFact('f1')), 201);
    expectStatus(await here.service.post(here.path, { ...createFact('f1'), source: 'https://scans.example' }), 201);
    expectStatus(await there.service.post(there.path, createFact('f1')), 201);
    expect(await factsInTrail(here)).toHaveLength(2);
    expect(await factsInTrail(there)).toHaveLength(1);
    expectStatus(await here.service.post(there.path, createFact('f9')), 404);
  });

  it('records each of a thousand facts once, even if twenty requests report them at the same time', async () => {
    const target = await makeFactsOrganization();
    const sources = ['https://a.example', 'https://b.example', 'https://c.example'];
    const facts = Array.from({ length: 1_000 }, (_, n) => ({
      ...createFact(`f${n}`),
      source: sources[n % sources.length] as string,
    }));
    // Each request has the facts in a different order.
    const posts = Array.from({ length: 20 }, (_, n) => [...facts.slice(n * 50), ...facts.slice(0, n * 50)]);
    // A request whose transaction meets too many others is refused with 503, and can be sent again.
    const post = async (body: object): Promise<ApiResponse> => {
      const answer = await target.service.post(target.path, body);
      return answer.status === 503 ? post(body) : answer;
    };
    const answers = await Promise.all(posts.map((each) => post({ facts: each })));
    expect(answers.flatMap(results).filter((result) => result === 'recorded')).toHaveLength(1_000);
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    const entries = new Set(answers.flatMap(({ body }) => body.facts.map(({ entry }: { entry: string }) => entry)));
    const events = (await readWholeLog(server.store)).filter(({ organization }) => organization === target.id);
    const recorded = events.filter(({ type }) => type === 'AuditFactReported').map(({ id }) => id);
    expect(recorded.toSorted()).toEqual([...entries].toSorted());
    expect((await trailOf(target)).filter(({ id }) => entries.has(id))).toHaveLength(1_000);
    expect(await verifySnapshots(server.store, [])).toEqual([]);
  });

  it('splits facts of a thousand sources and a thousand people into several transactions', async () => {
    const organization = await makeFactsOrganization();
    const facts = Array.from({ length: 1_000 }, (_, n) => {
      const { auth, ...rest } = createFact(`f${n}`);
      return { ...rest, source: `https://s${n}.example`, auth: { ...auth, accessor_id: `person-${n}` } };
    });
    const locked: number[] = [];
    const transaction = server.database.transaction.bind(server.database);
    const counted = jest.spyOn(server.database, 'transaction').mockImplementation((statements) => {
      locked.push(statements.filter(({ strings }) => strings.join('').includes('pg_advisory_xact_lock')).length);
      return transaction(statements);
    });
    const answer = expectStatus(await organization.service.post(organization.path, { facts }), 201);
    counted.mockRestore();
    expect(Math.max(...locked)).toBeLessThanOrEqual(100);
    expect(answer.body.facts.map(({ id }: { id: string }) => id)).toEqual(facts.map(({ id }) => id));
    expect(new Set(results(answer))).toEqual(new Set(['recorded']));
    const repeatedResponse = expectStatus(
      await organization.service.post(organization.path, { facts: facts.toReversed() }),
      200,
    );
    expect(new Set(results(repeatedResponse))).toEqual(new Set(['known']));
    expect(await factsInTrail(organization)).toHaveLength(1_000);
  });

  it('reports that a repeated source and id differ from the recorded fact', async () => {
    const organization = await makeFactsOrganization();
    expectStatus(await organization.service.post(organization.path, createFact('f1')), 201);
    const { auth, time, ...rest } = createFact('f1');
    const differs = async (fact: object): Promise<boolean> =>
      expectStatus(await organization.service.post(organization.path, fact), 200).body.facts[0].differs;
    expect(await differs(createFact('f1'))).toBe(false);
    expect(await differs({ ...rest, time: '2026-11-21T10:00:00Z', auth })).toBe(false);
    expect(await differs({ ...rest, time: '2026-11-21T10:00:01Z', auth })).toBe(true);
    expect(await differs({ ...rest, time, auth: { ...auth, description: 'somebody else' } })).toBe(false);
    expect(await differs({ ...rest, time, auth: { ...auth, accessor_id: 'user-8' } })).toBe(true);
    expect(await differs({ ...rest, time, auth: { ...auth, type: 'System' } })).toBe(true);
    expect(await differs({ ...rest, time, auth, request: { id: null } })).toBe(true);
    expect(await differs(createFact('f1', 'policy_config.create'))).toBe(true);
    expect(await differs(createFact('f1', 'stack.create', { name: 'x' }))).toBe(true);
    const [entry] = await factsInTrail(organization);
    expect(entry?.resource).toEqual(createFact('f1').resource);
  });

  it('records nothing if one fact of the request is invalid', async () => {
    const organization = await makeFactsOrganization();
    const bad = { ...createFact('f2', 'policy_check.passed'), time: 'yesterday' };
    const { body } = expectStatus(
      await organization.service.post(organization.path, { facts: [createFact('f1'), bad] }),
      422,
    );
    expect(body.errors).toMatchObject([{ status: '422', source: { pointer: '/facts/1/time' } }]);
    expect(await factsInTrail(organization)).toEqual([]);
    expect(results(expectStatus(await organization.service.post(organization.path, createFact('f1')), 201))).toEqual([
      'recorded',
    ]);
  });

  it.each([null, [], 'text', 7, {}, { facts: {} }, { facts: [null] }, { facts: [[]] }, { data: [] }])(
    'refuses %j',
    async (body) => {
      const organization = await makeFactsOrganization();
      const { status } = await organization.service.post(organization.path, JSON.stringify(body));
      expect([400, 422]).toContain(status);
    },
  );

  it('stores in the log who reported the fact and when it happened', async () => {
    const organization = await makeFactsOrganization();
    const { body } = expectStatus(await organization.service.post(organization.path, createFact('f1')), 201);
    const log = await readWholeLog(server.store);
    expect(log.find(({ id }) => id === body.facts[0].entry)).toMatchObject({
      type: 'AuditFactReported',
      stream: `facts/${organization.id}/https://policies.example`,
      version: 1,
      organization: organization.id,
      data: {
        source: 'https://policies.example',
        fact: 'f1',
        occurredAt: '2026-11-21T10:00:00.000Z',
        reportedBy: { type: 'organizations', id: organization.id },
      },
      context: {
        accessor: { id: 'user-7', name: 'ada' },
        auth: 'Impersonated',
        impersonator: 'user-root',
        request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77' },
      },
    });
  });

  it('records facts even without a subscription to the audit trail, but not after the organization is deleted', async () => {
    const organization = await makeFactsOrganization();
    const name = organization.path.split('/')[4] ?? '';
    const free = resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id: 'fs-free' } } });
    expectStatus(await server.post(`/api/v2/admin/organizations/${name}/subscription`, free), 200);
    expect(results(expectStatus(await organization.service.post(organization.path, createFact('f1')), 201))).toEqual([
      'recorded',
    ]);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    expectStatus(await server.post(organization.path, createFact('f2')), 404);
  });

  it('leaves views that equal the rebuilt ones', async () => {
    const organization = await makeFactsOrganization();
    expectStatus(
      await organization.service.post(organization.path, {
        facts: [createFact('f1'), createFact('f2', 'policy_check.passed')],
      }),
      201,
    );
    const before = await trailOf(organization);
    const views = listViews([createAuditTrailDefinition(server.store.kinds)]);
    for (const view of views) await rebuildView(server.store, view, { now: new Date() });
    for (const view of views) expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(await trailOf(organization)).toEqual(before);
  });
});

describe('the schemas of facts', () => {
  it('are returned to every caller with a token, all at once or one by one', async () => {
    const { service } = await makeFactsOrganization();
    const { body, headers } = expectStatus(await service.get('/api/v2/audit-facts/schemas'), 200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(Object.keys(body.schemas)).toEqual(CATALOGUE_ROWS.map(formatRowName));
    const one = expectStatus(await service.get('/api/v2/audit-facts/schemas/policy_check.passed'), 200);
    expect(one.body).toEqual(body.schemas['policy_check.passed']);
    expectStatus(await service.get('/api/v2/audit-facts/schemas/workspace.create'), 404);
    expectStatus(await service.get('/api/v2/audit-facts/schemas/constructor'), 404);
    expectStatus(await server.as(null).get('/api/v2/audit-facts/schemas'), 401);
  });
});
