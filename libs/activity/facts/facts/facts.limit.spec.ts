import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { ConsumedMessage, MessageResult } from '#storage/message-log';
import { FixedClock } from '../../../../test/support/clocks.js';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { toInterval, computeSecondsLeft } from './facts.limit.js';
import { FACT_TYPE, createFactMessageHandler } from './facts.message-handler.js';
import { createFact, registerSource } from '../spec.js';

const LIMIT = 1_000;
const START = Date.UTC(2026, 10, 21, 12);

const clock = new FixedClock();
let server: TestServer;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ clock, env: { CADASTRE_FACTS_LIMIT: String(LIMIT) } });
});
afterAll(() => server.close());

type Organization = { readonly id: string; readonly name: string };

const makeRegistered = async (name: string): Promise<Organization> => {
  const organization = await makeOrganization(server, name);
  await registerSource(server, name);
  return organization;
};

/** Creates an organization at the start of an interval that no other test uses. */
const makeLimited = async (): Promise<Organization> => {
  clock.time = START + (number += 1) * 60_000;
  return makeRegistered(`limited-${number}`);
};

const factsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => createFact(`f${from + n}`));

const report = ({ name }: Organization, from: number, to: number, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.post(`/api/v2/organizations/${name}/audit-facts`, { facts: factsOf(from, to) });

const countRecorded = async ({ id }: Organization): Promise<number> =>
  (await readWholeLog(server.store)).filter(
    ({ organization, type }) => organization === id && type === 'AuditFactReported',
  ).length;

const messagesOf = ({ name }: Organization, from: number, to: number, time = clock.time): readonly ConsumedMessage[] =>
  factsOf(from, to).map(({ source, id, time: happened, ...data }) => ({
    value: Buffer.from(JSON.stringify(data)),
    headers: {
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_type: FACT_TYPE,
      ce_source: source,
      ce_id: id,
      ce_time: happened,
      ce_organization: name,
    },
    timestamp: String(time),
  }));

const consume = (messages: readonly ConsumedMessage[]): Promise<readonly MessageResult[]> =>
  createFactMessageHandler(server.store, 'cadastre.facts', LIMIT)(messages);

const countRejected = (verdicts: readonly MessageResult[]): number =>
  verdicts.filter((verdict) => 'rejected' in verdict).length;

describe('the limit of facts by REST', () => {
  it('refuses a request that exceeds it, records none of its facts, and states when to repeat it', async () => {
    const organization = await makeLimited();
    expectStatus(await report(organization, 0, 600), 201);
    clock.pass({ seconds: 3 });
    const { body, headers } = expectStatus(await report(organization, 600, 1_001), 429);
    expect(headers.get('retry-after')).toBe('7');
    expect(body.errors).toEqual([
      {
        status: '429',
        title: 'Too many requests',
        detail:
          'An organization can report 1000 facts in ten seconds (CADASTRE_FACTS_LIMIT). 600 are counted, this request has 401 more',
      },
    ]);
    expect(await countRecorded(organization)).toBe(600);
    expectStatus(await report(organization, 600, 1_000), 201);
    expectStatus(await report(organization, 1_000, 1_001), 429);
  });

  it('accepts facts again in the next ten seconds', async () => {
    const organization = await makeLimited();
    expectStatus(await report(organization, 0, 1_000), 201);
    clock.pass({ ms: 9_999 });
    expectStatus(await report(organization, 1_000, 1_001), 429);
    clock.pass({ ms: 1 });
    expectStatus(await report(organization, 1_000, 2_000), 201);
    expect(await countRecorded(organization)).toBe(2_000);
  });

  it('does not count the facts of another organization', async () => {
    const flooded = await makeLimited();
    const quiet = await makeOrganization(server, `quiet-${number}`);
    expectStatus(await report(flooded, 0, 1_000), 201);
    expectStatus(await report(flooded, 1_000, 1_001), 429);
    expectStatus(await report(quiet, 0, 1_000), 201);
    expect([await countRecorded(flooded), await countRecorded(quiet)]).toEqual([1_000, 1_000]);
  });

  it('is exact when requests on two gateways run at the same time', async () => {
    const organization = await makeLimited();
    const second = await startAnotherGateway(server);
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, n) => report(organization, n * 100, (n + 1) * 100, n % 2 ? second : server)),
    );
    await second.close();
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array<number>(10).fill(201), ...Array<number>(5).fill(429)]);
    expect(await countRecorded(organization)).toBe(1_000);
  });

  it('deletes counts that are older than a day', async () => {
    const organization = await makeLimited();
    expectStatus(await report(organization, 0, 1), 201);
    clock.pass({ days: 1, minutes: 1 });
    expectStatus(await report(organization, 1, 2), 201);
    const counts = await server.database.rows(
      sql`select interval_start, facts from facts.reported where organization = ${organization.id}`,
    );
    expect(counts).toHaveLength(1);
  });
});

describe('the limit of facts by Kafka', () => {
  it('rejects facts beyond it with the reason, and records those of other organizations', async () => {
    const flooding = await makeLimited();
    const quiet = await makeRegistered(`quiet-${number}`);
    expectStatus(await report(flooding, 0, 995), 201);
    const verdicts = await consume([...messagesOf(flooding, 995, 1_010), ...messagesOf(quiet, 0, 5)]);
    const recorded = { result: 'recorded', entry: expect.any(String) };
    const rejected = {
      rejected:
        `The organization reported more than 1000 facts in the ten seconds from ${toInterval(clock.time)} ` +
        '(CADASTRE_FACTS_LIMIT). Send the fact again later',
    };
    expect(verdicts).toEqual([
      ...Array<object>(5).fill(recorded),
      ...Array<object>(10).fill(rejected),
      ...Array<object>(5).fill(recorded),
    ]);
    expectStatus(await report(flooding, 1_000, 1_001), 429);
  });

  it('does not count facts that are in the log already', async () => {
    const organization = await makeLimited();
    const messages = messagesOf(organization, 0, 1_000);
    expect(countRejected(await consume(messages))).toBe(0);
    const repeated = await consume(messages);
    expect(new Set(repeated.map((verdict) => ('result' in verdict ? verdict.result : 'rejected')))).toEqual(
      new Set(['known']),
    );
    expect(countRejected(await consume(messagesOf(organization, 1_000, 1_001)))).toBe(1);
  });

  it('counts by the time of the broker, so that a backlog is not rejected', async () => {
    const organization = await makeLimited();
    const early = messagesOf(organization, 0, 1_000, clock.time - 10_000);
    const late = messagesOf(organization, 1_000, 2_000);
    expect(countRejected(await consume([...early, ...late]))).toBe(0);
    expect(countRejected(await consume(messagesOf(organization, 2_000, 2_001, clock.time - 1)))).toBe(1);
  });

  it('accepts a fact if the time of the broker is beyond the calendar', async () => {
    const organization = await makeLimited();
    const [message] = messagesOf(organization, 0, 1);
    const verdicts = await consume([{ ...(message as ConsumedMessage), timestamp: '9223372036854775807' }]);
    expect(verdicts).toMatchObject([{ result: 'recorded' }]);
  });
});

describe('intervals', () => {
  it('begin every ten seconds', () => {
    expect(toInterval(START)).toBe('2026-11-21T12:00:00.000Z');
    expect(toInterval(START + 9_999)).toBe('2026-11-21T12:00:00.000Z');
    expect(toInterval(START + 10_000)).toBe('2026-11-21T12:00:10.000Z');
  });

  it('leave at least one second and at most ten', () => {
    expect(computeSecondsLeft(START)).toBe(10);
    expect(computeSecondsLeft(START + 1)).toBe(10);
    expect(computeSecondsLeft(START + 9_999)).toBe(1);
  });
});
