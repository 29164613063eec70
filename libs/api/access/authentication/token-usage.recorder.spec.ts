import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, unavailable, type Sql } from '#platform/kernel';
import { Database, type DatabaseRow } from '#platform/postgres';
import { FixedClock } from '../../../../test/support/clocks.js';
import { expectStatus, makeOrganization, makeToken } from '../../../../test/support/seeds.js';
import { startAnotherGateway, startTestServer, type TestServer } from '../../../../test/support/server.js';
import { TokenUsageRecorder } from './token-usage.recorder.js';

/** A database that tests can make unavailable. */
class Unsteady extends Database {
  isUnavailable = false;
  override rows<T = DatabaseRow>(statement: Sql): Promise<T[]> {
    return this.isUnavailable ? Promise.reject(unavailable('away', 1)) : super.rows<T>(statement);
  }
}

const clock = new FixedClock();
let server: TestServer;
let database: Unsteady;
let path: string;

beforeAll(async () => {
  server = await startTestServer({ clock });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  path = `/api/v2/teams/${ownersTeam}/authentication-token`;
  await makeToken(server, path);
  const { databaseUrl: url } = server.runtime;
  database = new Unsteady({ url, connections: 1, applicationName: 'cadastre test' });
});

afterAll(async () => {
  await database.close();
  await server.close();
});

const at = (time: string): Date => new Date(`2026-11-21T${time}.000Z`);
const tokenId = async (): Promise<string> => (await server.get(path)).body.data.id as string;
const lastUsed = async (): Promise<string | null> =>
  expectStatus(await server.get(path), 200).body.data.attributes['last-used-at'] as string | null;

describe('the last use of a token', () => {
  it('is written later, once for several uses, and shown with the token', async () => {
    const uses = new TokenUsageRecorder(database);
    const id = await tokenId();
    expect(await lastUsed()).toBeNull();
    const { statements } = database.count;
    for (const time of ['12:00:01', '12:00:02', '12:00:03']) uses.note(id, at(time));
    expect(database.count.statements).toBe(statements);
    await uses.flush();
    await uses.flush();
    expect(database.count.statements).toBe(statements + 1);
    expect(await lastUsed()).toBe('2026-11-21T12:00:03.000Z');
  });

  it('never moves back, whichever gateway writes last', async () => {
    const [one, another] = [new TokenUsageRecorder(database), new TokenUsageRecorder(database)];
    const id = await tokenId();
    one.note(id, at('12:05:00'));
    another.note(id, at('12:04:00'));
    await one.flush();
    await another.flush();
    expect(await lastUsed()).toBe('2026-11-21T12:05:00.000Z');
  });

  it('is written after an outage of the database, without an error and with later uses', async () => {
    const uses = new TokenUsageRecorder(database);
    const id = await tokenId();
    database.isUnavailable = true;
    uses.note(id, at('12:06:00'));
    await uses.flush();
    uses.note(id, at('12:07:00'));
    await uses.flush();
    database.isUnavailable = false;
    await uses.flush();
    expect(await lastUsed()).toBe('2026-11-21T12:07:00.000Z');
  });

  it('is not written for a deleted token', async () => {
    const uses = new TokenUsageRecorder(database);
    const id = await tokenId();
    await makeToken(server, path);
    uses.note(id, at('12:08:00'));
    uses.note(await tokenId(), at('12:09:00'));
    await uses.flush();
    expect(await lastUsed()).toBe('2026-11-21T12:09:00.000Z');
    const rows = await server.database.rows(sql`select 1 from access.token_uses where token = ${id}`);
    expect(rows).toEqual([]);
  });

  it('is recorded for every request with the token, and written when the gateway stops', async () => {
    const secret = await makeToken(server, path);
    const gateway = await startAnotherGateway(server);
    const { time } = clock;
    const expected = clock.pass({ minutes: 60 });
    expectStatus(await gateway.as(secret).get('/api/v2/account/details'), 200);
    clock.time = time;
    expect(await lastUsed()).toBeNull();
    await gateway.close();
    expect(await lastUsed()).toBe(expected);
  });
});
