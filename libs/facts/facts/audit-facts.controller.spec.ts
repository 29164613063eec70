import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { rebuildView, verifyView, verifySnapshots, listViews } from '#event-store';
import { createAuditTrailDefinition } from '#audit-trail';
import { expectStatus, makeOrganization, makeOrganizationToken, resource } from '../../../test/support/seeds.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../test/support/server.js';
import { readWholeLog } from '../../../test/support/event-log.js';
import { formatRowName, CATALOGUE_ROWS } from './facts.catalogue.js';
import { createFact } from '../spec.js';

let server: TestServer;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});
afterAll(() => server.close());

type Place = { readonly id: string; readonly path: string; readonly service: ApiTestClient };

/** An organization of the test's own, and its token: it reports facts, and reads the trail. */
const makePlace = async (): Promise<Place> => {
  const { name, id } = await makeOrganization(server, `house-${(number += 1)}`);
  const service = server.as(await makeOrganizationToken(server, name));
  return { id, path: `/api/v2/organizations/${name}/audit-facts`, service };
};

type Entry = { readonly id: string; readonly resource: { readonly type: string; readonly action: string } };

const trailOf = async ({ service }: Place): Promise<readonly Entry[]> =>
  expectStatus(await service.get('/api/v2/organization/audit-trail'), 200).body.data;

/** What the trail has beside the organization's own beginnings, oldest first. */
const factsInTrail = async (place: Place): Promise<readonly Entry[]> =>
  (await trailOf(place))
    .filter(({ resource: { type } }) => CATALOGUE_ROWS.some((row) => row.type === type))
    .toReversed();

const results = ({ body }: ApiResponse): readonly string[] =>
  body.facts.map(({ result }: { result: string }) => result);

describe('reporting facts', () => {
  it.each(CATALOGUE_ROWS.map(formatRowName))('puts %s into the trail, as it was told', async (row) => {
    const place = await makePlace();
    const fact = createFact('f1', row);
    const { body } = expectStatus(await place.service.post(place.path, fact), 201);
    const [entry, ...rest] = await factsInTrail(place);
    expect(rest).toEqual([]);
    expect(entry).toMatchObject({
      id: body.facts[0].entry,
      version: '0',
      type: 'Resource',
      auth: { ...fact.auth, organization_id: place.id },
      request: fact.request,
    });
    expect(entry?.resource).toEqual(fact.resource);
  });

  it('says of each what became of it, and knows it when it comes again', async () => {
    const place = await makePlace();
    const first = expectStatus(
      await place.service.post(place.path, { facts: [createFact('f1'), createFact('f2')] }),
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
    const again = [createFact('f3'), createFact('f2', 'stack.create'), createFact('f3')];
    const second = expectStatus(await place.service.post(place.path, { facts: again }), 201);
    expect(results(second)).toEqual(['recorded', 'known', 'known']);
    expect(second.body.facts[1].entry).toBe(first.body.facts[1].entry);
    const third = expectStatus(await place.service.post(place.path, createFact('f1')), 200);
    expect(results(third)).toEqual(['known']);
    // The first that called itself f2 counts.
    expect((await factsInTrail(place)).map(({ resource: { type } }) => type)).toEqual(['policy', 'policy', 'policy']);
  });

  it('takes a fact for another one where another service or another organization tells it', async () => {
    const [here, there] = [await makePlace(), await makePlace()];
    expectStatus(await here.service.post(here.path, createFact('f1')), 201);
    expectStatus(await here.service.post(here.path, { ...createFact('f1'), source: 'https://scans.example' }), 201);
    expectStatus(await there.service.post(there.path, createFact('f1')), 201);
    expect(await factsInTrail(here)).toHaveLength(2);
    expect(await factsInTrail(there)).toHaveLength(1);
    expectStatus(await here.service.post(there.path, createFact('f9')), 404);
  });

  it('records a thousand at once, and each once, though twenty report the same at the same time', async () => {
    const place = await makePlace();
    const sources = ['https://a.example', 'https://b.example', 'https://c.example'];
    const facts = Array.from({ length: 1_000 }, (_, n) => ({
      ...createFact(`f${n}`),
      source: sources[n % sources.length] as string,
    }));
    // Each in another order.
    const posts = Array.from({ length: 20 }, (_, n) => [...facts.slice(n * 50), ...facts.slice(0, n * 50)]);
    const answers = await Promise.all(posts.map((each) => place.service.post(place.path, { facts: each })));
    expect(answers.flatMap(results).filter((result) => result === 'recorded')).toHaveLength(1_000);
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    const entries = new Set(answers.flatMap(({ body }) => body.facts.map(({ entry }: { entry: string }) => entry)));
    const told = (await readWholeLog(server.store)).filter(({ organization }) => organization === place.id);
    const recorded = told.filter(({ type }) => type === 'AuditFactReported').map(({ id }) => id);
    expect(recorded.toSorted()).toEqual([...entries].toSorted());
    expect((await trailOf(place)).filter(({ id }) => entries.has(id))).toHaveLength(1_000);
    expect(await verifySnapshots(server.store, [])).toEqual([]);
  });

  it('records those of a thousand sources and a thousand people, not all in one transaction', async () => {
    const place = await makePlace();
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
    const answer = expectStatus(await place.service.post(place.path, { facts }), 201);
    counted.mockRestore();
    expect(Math.max(...locked)).toBeLessThanOrEqual(100);
    expect(answer.body.facts.map(({ id }: { id: string }) => id)).toEqual(facts.map(({ id }) => id));
    expect(new Set(results(answer))).toEqual(new Set(['recorded']));
    const again = expectStatus(await place.service.post(place.path, { facts: facts.toReversed() }), 200);
    expect(new Set(results(again))).toEqual(new Set(['known']));
    expect(await factsInTrail(place)).toHaveLength(1_000);
  });

  it('says where what comes under a name is another fact than the one that is known', async () => {
    const place = await makePlace();
    expectStatus(await place.service.post(place.path, createFact('f1')), 201);
    const { auth, time, ...rest } = createFact('f1');
    const differs = async (fact: object): Promise<boolean> =>
      expectStatus(await place.service.post(place.path, fact), 200).body.facts[0].differs;
    expect(await differs(createFact('f1'))).toBe(false);
    expect(await differs({ ...rest, time: '2026-11-21T10:00:00Z', auth })).toBe(false);
    expect(await differs({ ...rest, time: '2026-11-21T10:00:01Z', auth })).toBe(true);
    expect(await differs({ ...rest, time, auth: { ...auth, description: 'somebody else' } })).toBe(false);
    expect(await differs({ ...rest, time, auth: { ...auth, accessor_id: 'user-8' } })).toBe(true);
    expect(await differs({ ...rest, time, auth: { ...auth, type: 'System' } })).toBe(true);
    expect(await differs({ ...rest, time, auth, request: { id: null } })).toBe(true);
    expect(await differs(createFact('f1', 'policy.destroy'))).toBe(true);
    expect(await differs(createFact('f1', 'policy.update', { name: 'x' }))).toBe(true);
    const [entry] = await factsInTrail(place);
    expect(entry?.resource).toEqual(createFact('f1').resource);
  });

  it('records nothing where one of them is wrong', async () => {
    const place = await makePlace();
    const bad = { ...createFact('f2', 'task.create'), time: 'yesterday' };
    const { body } = expectStatus(await place.service.post(place.path, { facts: [createFact('f1'), bad] }), 422);
    expect(body.errors).toMatchObject([{ status: '422', source: { pointer: '/facts/1/time' } }]);
    expect(await factsInTrail(place)).toEqual([]);
    expect(results(expectStatus(await place.service.post(place.path, createFact('f1')), 201))).toEqual(['recorded']);
  });

  it.each([null, [], 'text', 7, {}, { facts: {} }, { facts: [null] }, { facts: [[]] }, { data: [] }])(
    'refuses %j',
    async (body) => {
      const place = await makePlace();
      const { status } = await place.service.post(place.path, JSON.stringify(body));
      expect([400, 422]).toContain(status);
    },
  );

  it('keeps in the log whom it was that reported, and when it happened', async () => {
    const place = await makePlace();
    const { body } = expectStatus(await place.service.post(place.path, createFact('f1')), 201);
    const log = await readWholeLog(server.store);
    expect(log.find(({ id }) => id === body.facts[0].entry)).toMatchObject({
      type: 'AuditFactReported',
      stream: `facts/${place.id}/https://policies.example`,
      version: 1,
      organization: place.id,
      data: {
        source: 'https://policies.example',
        fact: 'f1',
        occurredAt: '2026-11-21T10:00:00.000Z',
        reportedBy: { type: 'organizations', id: place.id },
      },
      context: {
        accessor: { id: 'user-7', name: 'ada' },
        auth: 'Impersonated',
        impersonator: 'user-root',
        request: { id: 'b7f4c1de-5a43-4b1e-9c55-2f6d3c1a0e77' },
      },
    });
  });

  it('is in the log where the trail is closed, and nowhere once the organization is gone', async () => {
    const place = await makePlace();
    const name = place.path.split('/')[4] ?? '';
    const free = resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id: 'fs-free' } } });
    expectStatus(await server.post(`/api/v2/admin/organizations/${name}/subscription`, free), 200);
    expect(results(expectStatus(await place.service.post(place.path, createFact('f1')), 201))).toEqual(['recorded']);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    expectStatus(await server.post(place.path, createFact('f2')), 404);
  });

  it('leaves views that a rebuild makes again', async () => {
    const place = await makePlace();
    expectStatus(
      await place.service.post(place.path, { facts: [createFact('f1'), createFact('f2', 'task.update')] }),
      201,
    );
    const before = await trailOf(place);
    const views = listViews([createAuditTrailDefinition(server.store.kinds)]);
    for (const view of views) await rebuildView(server.store, view);
    for (const view of views) expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(await trailOf(place)).toEqual(before);
  });
});

describe('the schemas of facts', () => {
  it('are told to everybody with a token, all of them or one', async () => {
    const { service } = await makePlace();
    const { body, headers } = expectStatus(await service.get('/api/v2/audit-facts/schemas'), 200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(Object.keys(body.schemas)).toEqual(CATALOGUE_ROWS.map(formatRowName));
    const one = expectStatus(await service.get('/api/v2/audit-facts/schemas/task.update'), 200);
    expect(one.body).toEqual(body.schemas['task.update']);
    expectStatus(await service.get('/api/v2/audit-facts/schemas/workspace.create'), 404);
    expectStatus(await service.get('/api/v2/audit-facts/schemas/constructor'), 404);
    expectStatus(await server.as(null).get('/api/v2/audit-facts/schemas'), 401);
  });
});
