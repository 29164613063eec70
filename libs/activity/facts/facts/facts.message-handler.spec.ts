import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Refusal, unavailable } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { ConsumedMessage } from '#storage/message-log';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { FACT_TYPE, createFactMessageHandler } from './facts.message-handler.js';
import { createFact, registerSource, SOURCE } from '../spec.js';

const TOPIC = 'cadastre.facts';
let server: TestServer;
let number = 0;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const makeFactsOrganization = async () => {
  const organization = await makeOrganization(server, `organization-${(number += 1)}`);
  await registerSource(server, organization.name);
  return organization;
};
const take = (messages: readonly ConsumedMessage[], store: EventStore = server.store) =>
  createFactMessageHandler(store, TOPIC)(messages);

const binary = (organization: string, fact: ReturnType<typeof createFact>, headers: object = {}): ConsumedMessage => {
  const { source, id, time, ...data } = fact;
  return {
    value: Buffer.from(JSON.stringify(data)),
    headers: {
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_type: FACT_TYPE,
      ce_source: source,
      ce_id: id,
      ce_time: time,
      ce_organization: organization,
      ...headers,
    },
    timestamp: String(Date.UTC(2026, 10, 21)),
  };
};

const structured = (
  organization: string,
  { source, id, time, ...data }: ReturnType<typeof createFact>,
): ConsumedMessage => ({
  value: Buffer.from(JSON.stringify({ specversion: '1.0', type: FACT_TYPE, source, id, time, organization, data })),
  headers: { 'content-type': 'application/cloudevents+json' },
  timestamp: '0',
});

const recordedFor = async (organization: string) =>
  (await readWholeLog(server.store)).filter(
    (event) => event.organization === organization && event.type === 'AuditFactReported',
  );

describe('facts by Kafka', () => {
  it('are recorded in either content mode, for the name or the id of an organization', async () => {
    const { name, id } = await makeFactsOrganization();
    const verdicts = await take([
      binary(name, createFact('f1')),
      structured(id, createFact('f2', 'policy_check.passed')),
    ]);
    expect(verdicts).toMatchObject([{ result: 'recorded' }, { result: 'recorded' }]);
    const [first] = await recordedFor(id);
    expect(first).toMatchObject({
      data: { fact: 'f1', occurredAt: '2026-11-21T10:00:00.000Z', reportedBy: { type: 'topics', id: TOPIC } },
      context: { accessor: { id: 'user-7', name: 'ada' } },
    });
  });

  it('get the time of the broker if they have no time', async () => {
    const { name, id } = await makeFactsOrganization();
    await take([binary(name, createFact('f1'), { ce_time: undefined })]);
    expect((await recordedFor(id))[0]?.data).toMatchObject({ occurredAt: '2026-11-21T00:00:00.000Z' });
  });

  it('get the latest possible time if the time of the broker is outside the calendar', async () => {
    const { name, id } = await makeFactsOrganization();
    const message = { ...binary(name, createFact('f1'), { ce_time: undefined }), timestamp: '9223372036854775807' };
    expect(await take([message])).toMatchObject([{ result: 'recorded' }]);
    expect((await recordedFor(id))[0]?.data).toMatchObject({ occurredAt: '9999-12-31T23:59:59.999Z' });
  });

  it('are rejected if another fact has their source and id, and the recorded fact stays', async () => {
    const { name, id } = await makeFactsOrganization();
    const [first] = await take([binary(name, createFact('f1'))]);
    const { auth, ...rest } = createFact('f1');
    const repeated = { result: 'known', differs: false };
    const differs = { rejected: expect.stringMatching(/^Another fact has this source and id: it is recorded as /) };
    const verdicts = await take([
      binary(id, { ...rest, auth: { ...auth, description: 'ada lovelace' } }),
      binary(id, { ...rest, auth: { ...auth, accessor_id: 'user-8' } }),
      binary(id, { ...rest, auth, time: '2026-11-21T12:00:00.001+02:00' }),
      binary(id, createFact('f1', 'stack.create', { more: true })),
      // Without a time, the fact gets the time of the broker, which differs for each message.
      { ...binary(id, createFact('f1'), { ce_time: undefined }), timestamp: '7' },
      binary(id, createFact('f2')),
      binary(id, createFact('f2', 'policy_check.passed')),
    ]);
    expect(verdicts).toMatchObject([repeated, differs, differs, differs, repeated, { result: 'recorded' }, differs]);
    expect(await recordedFor(id)).toMatchObject([{ id: (first as unknown as { entry: string }).entry }, { data: {} }]);
  });

  it('are recognized if they are repeated by Kafka or REST', async () => {
    const { name, id } = await makeFactsOrganization();
    const path = `/api/v2/organizations/${name}/audit-facts`;
    expectStatus(await server.post(path, createFact('f1')), 201);
    expect(await take([binary(name, createFact('f1')), binary(id, createFact('f2'))])).toMatchObject([
      { result: 'known' },
      { result: 'recorded' },
    ]);
    expectStatus(await server.post(path, createFact('f2')), 200);
    const facts = Array.from({ length: 50 }, (_, n) => createFact(`race-${n}`));
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        n % 2 ? take(facts.map((fact) => binary(name, fact))) : server.post(path, { facts: facts.toReversed() }),
      ),
    );
    expect(await recordedFor(id)).toHaveLength(52);
  });

  it('are rejected with the reason, and do not block other facts', async () => {
    const [here, there] = [await makeFactsOrganization(), await makeFactsOrganization()];
    const { resource, ...rest } = createFact('f0');
    const verdicts = await take([
      binary(here.name, createFact('f1')),
      { value: Buffer.from('{'), headers: {}, timestamp: '0' },
      binary('nowhere', createFact('f2')),
      binary(here.name, createFact('f3'), { ce_type: 'thing.Happened' }),
      binary(here.name, createFact('f4'), { ce_organization: undefined }),
      binary(here.name, { ...rest, resource: { ...resource, type: 'workspace' } }),
      binary(here.name, createFact('f5', 'stack.create', { nested: {} })),
      binary(here.name, createFact('f6'), { ce_time: 'yesterday' }),
      { ...binary(here.name, createFact('f7')), value: Buffer.from('7') },
      binary(there.name, createFact('f8')),
    ]);
    expect(verdicts).toEqual([
      { result: 'recorded', entry: expect.any(String) },
      { rejected: 'The message is not valid JSON' },
      { rejected: 'There is no organization nowhere' },
      { rejected: `The attribute type must be ${FACT_TYPE}, got thing.Happened` },
      { rejected: 'The attribute organization is missing. Set it to the name or the id of an organization' },
      {
        rejected: '/resource/type: Type workspace belongs to Cadastre. Other services cannot report facts about it',
      },
      { rejected: expect.stringContaining('/resource/meta/nested: ') },
      { rejected: '/time: Time must be an ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z' },
      { rejected: 'The data is not an object' },
      { result: 'recorded', entry: expect.any(String) },
    ]);
  });

  it('are rejected if the organization has not registered their source, or has removed it', async () => {
    const [here, there] = [await makeOrganization(server, 'strict'), await makeFactsOrganization()];
    const otherSource = 'https://scans.example';
    const detail = (source: string) => ({
      rejected: `The organization has not registered the source ${source} (audit-fact-sources)`,
    });
    const recorded = { result: 'recorded', entry: expect.any(String) };
    const { id } = (await registerSource(server, here.name, otherSource)).body.data;
    const first = [
      binary(here.name, createFact('f1')),
      binary(here.id, { ...createFact('f2'), source: otherSource }),
      binary(there.name, createFact('f3')),
      binary(there.name, { ...createFact('f4'), source: otherSource }),
    ];
    expect(await take(first)).toEqual([detail(SOURCE), recorded, recorded, detail(otherSource)]);
    expectStatus(await server.delete(`/api/v2/audit-fact-sources/${id}`), 204);
    expect(await take([binary(here.name, { ...createFact('f5'), source: otherSource })])).toEqual([
      detail(otherSource),
    ]);
    await registerSource(server, here.name, otherSource);
    expect(await take([binary(here.name, { ...createFact('f5'), source: otherSource })])).toEqual([recorded]);
  });

  it('are rejected if the database cannot store them, whatever the message contains', async () => {
    const { name } = await makeFactsOrganization();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const inBytes = (value: Buffer | string | null): ConsumedMessage => ({
      ...binary(name, createFact('f1')),
      value: typeof value === 'string' ? Buffer.from(value) : value,
    });
    const half = { ...createFact('half'), auth: { ...createFact('half').auth, description: '\ud800' } };
    const messages = [
      inBytes(null),
      inBytes(''),
      inBytes('{"auth":'),
      inBytes(Buffer.from([0x22, 0xff, 0x22])),
      inBytes(deep),
      inBytes(`{"auth":${deep}}`),
      inBytes('[]'),
      inBytes(JSON.stringify({ resource: 'x'.repeat(100_000) })),
      binary(name, createFact('nul', 'stack.create', { text: 'a\0b' })),
      binary(name, createFact('half', 'stack.create', { text: '\udc00' })),
      binary(name, half),
      binary(name, createFact('f1'), { ce_id: 'a\0b' }),
      binary('no\0where', createFact('f1')),
      structured('\ud800', createFact('f1')),
      binary(name, createFact('f1'), { 'content-type': 'application/avro' }),
      binary(name, createFact('f1'), { ce_specversion: '0.3' }),
      binary(name, createFact('f1', 'stack.eat')),
      binary(name, createFact('f1', 'polizei.update')),
      binary(name, createFact('f1'), { ce_time: '+275760-09-13T00:00:00.001Z' }),
    ];
    for (const message of messages) expect(await take([message])).toEqual([{ rejected: expect.any(String) }]);
    const verdicts = await take([binary(name, createFact('good')), ...messages, binary(name, createFact('fine'))]);
    expect(verdicts.map((verdict) => 'rejected' in verdict)).toEqual([false, ...messages.map(() => true), false]);
  });

  it('are rejected without any other error, whichever bytes are changed', async () => {
    const { name } = await makeFactsOrganization();
    const changes = fc.sample(fc.tuple(fc.nat(), fc.nat(255), fc.boolean()), 500);
    const messages = changes.map(([index, byte, isStructured], n): ConsumedMessage => {
      const message = (isStructured ? structured : binary)(name, createFact(`f${n}`));
      const value = Buffer.from(message.value as Buffer);
      value[index % value.length] = byte;
      return { ...message, value };
    });
    const verdicts = await take(messages);
    expect(verdicts.filter((verdict) => !('rejected' in verdict || 'result' in verdict))).toEqual([]);
  });

  it('are rejected if their organization is deleted while they are recorded, without affecting other organizations', async () => {
    const [here, deleted] = [await makeFactsOrganization(), await makeFactsOrganization()];
    let appends = 0;
    const late: EventStore = Object.assign(Object.create(server.store) as EventStore, {
      appendOnce: async (...args: Parameters<EventStore['appendOnce']>) => {
        // Deletes the organization after it was found and before its facts are written.
        if ((appends += 1) === 1) expectStatus(await server.delete(`/api/v2/organizations/${deleted.name}`), 204);
        return server.store.appendOnce(...args);
      },
    });
    const messages = [
      binary(deleted.name, createFact('f1')),
      binary(here.name, createFact('f2')),
      binary(deleted.id, createFact('f3')),
    ];
    expect(await take(messages, late)).toMatchObject([
      { rejected: `There is no organization ${deleted.name}` },
      { result: 'recorded' },
      { rejected: `There is no organization ${deleted.id}` },
    ]);
  });

  it('fail together without a rejection if the database is unavailable, so that they are read again', async () => {
    const { name } = await makeFactsOrganization();
    const unavailableStore: EventStore = Object.assign(Object.create(server.store) as EventStore, {
      appendOnce: () => Promise.reject(unavailable('The database is not available', 1)),
    });
    await expect(
      take([binary(name, createFact('f1')), binary('nowhere', createFact('f2'))], unavailableStore),
    ).rejects.toThrow(Refusal);
    const broken: EventStore = Object.assign(Object.create(server.store) as EventStore, {
      appendOnce: () => Promise.reject(new Error('unexpected')),
    });
    await expect(take([binary(name, createFact('f1'))], broken)).rejects.toThrow('unexpected');
  });

  it('are recorded one by one if one of them makes the transaction fail', async () => {
    const { name, id } = await makeFactsOrganization();
    const picky: EventStore = Object.assign(Object.create(server.store) as EventStore, {
      appendOnce: (...args: Parameters<EventStore['appendOnce']>) =>
        JSON.stringify(args).includes('"bad"')
          ? Promise.reject(Object.assign(new Error('unsupported Unicode escape'), { code: '22P05' }))
          : server.store.appendOnce(...args),
    });
    const facts = ['good', 'bad', 'fine'].map((fact) => binary(name, createFact(fact)));
    expect(await take(facts, picky)).toMatchObject([
      { result: 'recorded' },
      { rejected: 'The database cannot store the fact: unsupported Unicode escape' },
      { result: 'recorded' },
    ]);
    expect(await recordedFor(id)).toHaveLength(2);
  });
});
