import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { makeToken } from '../../../test/support/seeds.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { createPruningJob } from '../retention/pruning.job.js';
import { requestTrail, DAY_MS, buildLongTrail, readLines, readTrail } from '../spec.js';

let server: TestServer;
const clock = new AdjustableClock();

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
});
afterAll(() => server.close());
afterEach(() => {
  clock.offsetMs = 0;
});

/** Far more than goes into what lies between two programs. */
const lengthen = async ({ database }: TestServer, organization: string, entries: number): Promise<void> => {
  for (const statement of buildLongTrail(organization, entries)) await database.rows(statement);
};

/** All of it is told, and nothing more to come. */
const makePlace = async (on: TestServer, name: string): Promise<AuditedOrganization> => {
  const place = await createAuditedOrganization(on, name);
  await readTrail(place.reader);
  return place;
};

/** An export whose reader takes its time. */
const openLines = async (on: TestServer, token: string, query: Readonly<Record<string, string>> = {}) => {
  const stop = new AbortController();
  const answer = await fetch(`${on.url}/api/v2/organization/audit-trail?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
    signal: stop.signal,
  });
  if (!answer.body) throw new Error('nothing came');
  return { stop, reader: answer.body.getReader() };
};

/** All that still comes, without the line that the first piece was cut in; and whether that was all there was. */
const restOf = async (reader: ReadableStreamDefaultReader<unknown>) => {
  let text = '';
  let isComplete = false;
  const decoder = new TextDecoder();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      text += decoder.decode(chunk.value as Uint8Array, { stream: true });
    }
    isComplete = true;
  } catch {
    // It was cut off.
  }
  const lines = text.split('\n').slice(1, -1);
  return { isComplete, ids: lines.map((line) => (JSON.parse(line) as { id: string }).id) };
};

describe('an export', () => {
  it('is the whole trail, an entry a line, oldest first', async () => {
    const { id, token } = await makePlace(server, 'mill');
    await lengthen(server, id, 2_000);
    const lines = await readLines(server, token);
    const pages = [];
    for (let next: number | null = 1; next !== null; next = pages.at(-1)?.pagination.next_page ?? null) {
      pages.push(await readTrail(server.as(token), { 'page[number]': String(next) }));
    }
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines).toEqual(pages.flatMap(({ data }) => data).toReversed());
  });

  it('takes since, until, filters and a cursor', async () => {
    const { token } = await makePlace(server, 'barn');
    const all = await readLines(server, token);
    const [since, until] = [all[1]?.timestamp ?? '', all[4]?.timestamp ?? ''];
    expect(await readLines(server, token, { since, until })).toEqual(all.slice(2, 5));
    expect(await readLines(server, token, { after: all[2]?.id ?? '', until })).toEqual(all.slice(3, 5));
    const teams = all.filter(({ resource: { type } }) => type === 'team');
    expect(await readLines(server, token, { 'filter[resource-type]': 'team' })).toEqual(teams);
    expect(await readLines(server, token, { since: '2200-01-01' })).toEqual([]);
  });

  it('holds what was written, as soon as that was answered', async () => {
    const { workspace, token } = await makePlace(server, 'forge');
    await act(server, workspace, 'lock');
    expect((await readLines(server, token)).at(-1)?.resource).toMatchObject({ id: workspace, action: 'lock' });
  });

  it.each([
    'application/x-ndjson',
    'Application/X-NDJSON; q=0.9, */*',
    'application/json; q=0.5, application/x-ndjson',
  ])('is what who accepts %s is given', async (accept) => {
    const { token } = await makePlace(server, `dairy-${accept.length}`);
    expect((await readLines(server, token, {}, accept)).length).toBeGreaterThan(3);
  });

  it.each([
    ['*/*', ''],
    ['application/*', ''],
    ['application/json', ''],
    ['application/ndjson', ''],
    ['', ''],
    ['application/x-ndjson; q=0', ''],
    ['application/json, application/x-ndjson', ''],
    ['application/x-ndjson; q=x', ''],
    ['application/x-ndjson', 'page[size]=100'],
    ['application/x-ndjson', 'page=1'],
    ['application/x-ndjson', 'page%5Bnumber%5D=1'],
  ])('is not what who accepts %j is given, asking for %j', async (accept, query) => {
    const { token } = await makePlace(server, `orchard-${randomUUID().slice(0, 8)}`);
    const headers = { authorization: `Bearer ${token}`, accept };
    const answer = await fetch(`${server.url}/api/v2/organization/audit-trail?${query}`, { headers });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(Object.keys((await answer.json()) as object)).toEqual(['data', 'pagination']);
  });

  it('is refused as everything is here: in JSON', async () => {
    const { id, token } = await makePlace(server, 'cellar');
    const refused = async (secret: string | null, query: string): Promise<number> => {
      const headers = {
        accept: 'application/x-ndjson',
        ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      };
      const answer = await fetch(`${server.url}/api/v2/organization/audit-trail?${query}`, { headers });
      expect(Object.keys((await answer.json()) as object)).toEqual(['errors']);
      return answer.status;
    };
    expect(id).toMatch(/^org-/);
    const path = '/api/v2/organizations/cellar/authentication-token?token=audit-trails';
    expect((await readLines(server, await makeToken(server, path))).length).toBeGreaterThan(0);
    expect(await refused(server.adminToken, '')).toBe(404);
    expect(await refused(null, '')).toBe(401);
    expect(await refused(token, 'since=tomorrow')).toBe(422);
    expect(await refused(token, 'after=x')).toBe(422);
  });
});

describe('the reader of an export', () => {
  it('who is slow is waited for, and gets what was there when it began, each entry once', async () => {
    const { id, workspace, token } = await makePlace(server, 'slow');
    await lengthen(server, id, 25_000);
    const before = await readTrail(server.as(token), { 'page[size]': '1' });
    const { reader } = await openLines(server, token);
    await reader.read();
    const { statements } = server.database.count;
    await readTrail(server.as(token));
    // Nothing near the 250 that all of it takes has been asked for meanwhile.
    expect(server.database.count.statements - statements).toBeLessThan(200);
    await act(server, workspace, 'lock');
    await readTrail(server.as(token));
    const { ids } = await restOf(reader);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.at(-1)).toBe(before.data[0]?.id);
    expect(ids.length).toBeLessThanOrEqual(before.pagination.total_count);
  });

  it.each([
    ['', {}],
    [', filtered', { 'filter[resource-type]': 'workspace,run' }],
  ])('who is so slow that what comes next is pruned finds no end of it%s', async (_, query) => {
    const { id, token } = await makePlace(server, `late-${Object.keys(query).length}`);
    await lengthen(server, id, 25_000);
    const { reader } = await openLines(server, token, query);
    await reader.read();
    // All but a hundred are too old.
    clock.offsetMs = 14 * DAY_MS + 24_900_000;
    await runJobOnce(createPruningJob(server.database, clock));
    const { ids, isComplete } = await restOf(reader);
    expect(isComplete).toBe(false);
    const left = await readLines(server, token, query);
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter((entry) => ids.includes(entry.id))).toEqual([]);
  });

  it('who goes away leaves nothing behind that a stop would wait for', async () => {
    const own = await startTestServer({ followers: true });
    const { id, token } = await makePlace(own, 'gone');
    await lengthen(own, id, 25_000);
    const { stop, reader } = await openLines(own, token);
    await reader.read();
    stop.abort();
    await expect(own.close()).resolves.toBeUndefined();
  });

  it('finds no end of it where the server is stopped meanwhile', async () => {
    const own = await startTestServer({ followers: true });
    const { id, token } = await makePlace(own, 'stopped');
    await lengthen(own, id, 25_000);
    const { reader } = await openLines(own, token);
    await reader.read();
    const rest = (async () => {
      while (!(await reader.read()).done);
      return 'complete';
    })();
    const [, end] = await Promise.all([own.close(), rest.catch(() => 'cut off')]);
    expect(end).toBe('cut off');
  });
});

it('an export does not change what other readers are given', async () => {
  const { token } = await makePlace(server, 'plain');
  await readLines(server, token);
  expect((await requestTrail(server.as(token))).headers.get('content-type')).toBe('application/json');
});
