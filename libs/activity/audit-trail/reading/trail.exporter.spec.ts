import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { makeToken } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { parquetReadObjects } from 'hyparquet';
import { renderCef } from '../formats/cef.js';
import { renderOcsf } from '../formats/ocsf.js';
import { VERSION } from '#platform/host';
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

/** Adds far more entries than the buffers between two programs can contain. */
const lengthen = async ({ database }: TestServer, organization: string, entries: number): Promise<void> => {
  for (const statement of buildLongTrail(organization, entries)) await database.rows(statement);
};

/** Creates an organization and waits until all its entries are written. */
const newWrittenOrganization = async (on: TestServer, name: string): Promise<AuditedOrganization> => {
  const audited = await createAuditedOrganization(on, name);
  await readTrail(audited.reader);
  return audited;
};

/** Opens an export for a reader that decides when to read. */
const openLines = async (on: TestServer, token: string, query: Readonly<Record<string, string>> = {}) => {
  const stop = new AbortController();
  const answer = await fetch(`${on.url}/api/v2/organization/audit-trail?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
    signal: stop.signal,
  });
  if (!answer.body) throw new Error('nothing came');
  return { stop, reader: answer.body.getReader() };
};

/**
 * Reads the remaining lines, without the one that the first chunk cut. `isComplete`: whether the response ended
 * properly.
 */
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
    // The connection was closed early.
  }
  const lines = text.split('\n').slice(1, -1);
  return { isComplete, ids: lines.map((line) => (JSON.parse(line) as { id: string }).id) };
};

describe('an export of the audit trail', () => {
  it('contains the complete audit trail, one entry on each line, oldest first', async () => {
    const { id, token } = await newWrittenOrganization(server, 'mill');
    await lengthen(server, id, 2_000);
    const lines = await readLines(server, token);
    const pages = [];
    for (let next: number | null = 1; next !== null; next = pages.at(-1)?.pagination.next_page ?? null) {
      pages.push(await readTrail(server.as(token), { 'page[number]': String(next) }));
    }
    expect(lines.length).toBeGreaterThan(2_000);
    expect(lines).toEqual(pages.flatMap(({ data }) => data).toReversed());
  });

  it('supports since, until, filters and a cursor', async () => {
    const { token } = await newWrittenOrganization(server, 'barn');
    const all = await readLines(server, token);
    const [since, until] = [all[1]?.timestamp ?? '', all[4]?.timestamp ?? ''];
    expect(await readLines(server, token, { since, until })).toEqual(all.slice(2, 5));
    expect(await readLines(server, token, { after: all[2]?.id ?? '', until })).toEqual(all.slice(3, 5));
    const teams = all.filter(({ resource: { type } }) => type === 'team');
    expect(await readLines(server, token, { 'filter[resource-type]': 'team' })).toEqual(teams);
    expect(await readLines(server, token, { since: '2200-01-01' })).toEqual([]);
  });

  it('contains a change as soon as the request for it has been answered', async () => {
    const { workspace, token } = await newWrittenOrganization(server, 'forge');
    await act(server, workspace, 'lock');
    expect((await readLines(server, token)).at(-1)?.resource).toMatchObject({ id: workspace, action: 'lock' });
  });

  it.each([
    'application/x-ndjson',
    'Application/X-NDJSON; q=0.9, */*',
    'application/json; q=0.5, application/x-ndjson',
  ])('is returned if the client accepts %s', async (accept) => {
    const { token } = await newWrittenOrganization(server, `dairy-${accept.length}`);
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
  ])('is not returned if the client accepts %j and the query is %j', async (accept, query) => {
    const { token } = await newWrittenOrganization(server, `orchard-${randomUUID().slice(0, 8)}`);
    const headers = { authorization: `Bearer ${token}`, accept };
    const answer = await fetch(`${server.url}/api/v2/organization/audit-trail?${query}`, { headers });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(Object.keys((await answer.json()) as object)).toEqual(['data', 'pagination']);
  });

  it('is refused with errors in JSON', async () => {
    const { id, token } = await newWrittenOrganization(server, 'cellar');
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

describe('an export in another format', () => {
  const request = (token: string, query: string, trail = 'organizations/kiln/audit-trail') =>
    fetch(`${server.url}/api/v2/${trail}?${query}`, { headers: { authorization: `Bearer ${token}`, accept: '*/*' } });
  const headersOf = (answer: Response) => [
    answer.headers.get('content-type'),
    answer.headers.get('content-disposition'),
  ];
  let token: string;

  beforeAll(async () => {
    const audited = await newWrittenOrganization(server, 'kiln');
    await lengthen(server, audited.id, 6_000);
    ({ token } = audited);
  });

  it('contains the same entries as the lines of JSON', async () => {
    const entries = await readLines(server, token);
    const ocsf = await request(token, 'format=ocsf');
    expect(headersOf(ocsf)).toEqual(['application/x-ndjson', 'attachment; filename="kiln-audit-trail.ocsf.ndjson"']);
    expect(await ocsf.text()).toBe(entries.map((entry) => `${JSON.stringify(renderOcsf(entry, VERSION))}\n`).join(''));
    const cef = await request(token, 'format=cef');
    expect(headersOf(cef)).toEqual(['text/plain; charset=utf-8', 'attachment; filename="kiln-audit-trail.cef"']);
    expect(await cef.text()).toBe(entries.map((entry) => `${renderCef(entry, VERSION)}\n`).join(''));
    const parquet = await request(token, 'format=parquet');
    expect(headersOf(parquet)).toEqual([
      'application/vnd.apache.parquet',
      'attachment; filename="kiln-audit-trail.parquet"',
    ]);
    const rows = await parquetReadObjects({ file: await parquet.arrayBuffer() });
    expect(rows.map(({ id, resource_meta }) => [id, resource_meta])).toEqual(
      entries.map(({ id, resource }) => [id, resource.meta]),
    );
  });

  it('supports filters and a cursor', async () => {
    const all = await readLines(server, token);
    const teams = all.filter(({ resource: { type } }) => type === 'team');
    const cef = await (await request(token, `format=cef&filter[resource-type]=team&after=${teams[0]?.id}`)).text();
    expect(cef).toBe(
      teams
        .slice(1)
        .map((entry) => `${renderCef(entry, VERSION)}\n`)
        .join(''),
    );
  });

  it('exists for the trail of the site', async () => {
    const answer = await request(server.adminToken, 'format=cef', 'admin/audit-trail');
    expect(headersOf(answer)[1]).toBe('attachment; filename="site-audit-trail.cef"');
    expect(await answer.text()).toMatch(/^CEF:0\|Cadastre\|Cadastre\|/);
  });

  it.each([
    ['format=csv', 422, 'format: must be one of json, ndjson, ocsf, cef, parquet'],
    ['format=OCSF', 422, 'format: must be one of json, ndjson, ocsf, cef, parquet'],
    ['format=ocsf&since=tomorrow', 422, 'since'],
    ['format=parquet&page[size]=10', 400, 'format: parquet has no pages; remove page[size], or use format=json'],
    ['format=cef&page=', 400, 'format: cef has no pages; remove page, or use format=json'],
  ])('is refused for %s', async (query, status, detail) => {
    const answer = await request(token, query);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-disposition')).toBeNull();
    expect(await answer.text()).toContain(detail);
  });

  it('is incomplete if the server stops', async () => {
    const own = await startTestServer({ followers: true });
    const audited = await newWrittenOrganization(own, 'halted');
    await lengthen(own, audited.id, 25_000);
    const answer = await fetch(`${own.url}/api/v2/organizations/halted/audit-trail?format=cef`, {
      headers: { authorization: `Bearer ${audited.token}` },
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const rest = (async () => {
      while (!(await reader.read()).done);
      return 'complete';
    })();
    const [, end] = await Promise.all([own.close(), rest.catch(() => 'cut off')]);
    expect(end).toBe('cut off');
  });
});

describe('the reader of an export', () => {
  it('gets the entries of the start once each, and the server waits if the reader is slow', async () => {
    const { id, workspace, token } = await newWrittenOrganization(server, 'slow');
    await lengthen(server, id, 25_000);
    const before = await readTrail(server.as(token), { 'page[size]': '1' });
    const { reader } = await openLines(server, token);
    await reader.read();
    const { statements } = server.database.count;
    await readTrail(server.as(token));
    // Reading the complete audit trail takes 250 statements. The server executes far fewer for a slow reader.
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
  ])('gets an incomplete response if it is so slow that the next entries are pruned%s', async (_, query) => {
    const { id, token } = await newWrittenOrganization(server, `late-${Object.keys(query).length}`);
    await lengthen(server, id, 25_000);
    const { reader } = await openLines(server, token, query);
    await reader.read();
    // All entries but a hundred have expired.
    clock.offsetMs = 14 * DAY_MS + 24_900_000;
    await runJobOnce(createPruningJob(server.database, clock));
    const { ids, isComplete } = await restOf(reader);
    expect(isComplete).toBe(false);
    const remaining = await readLines(server, token, query);
    expect(remaining.length).toBeGreaterThan(0);
    expect(remaining.filter((entry) => ids.includes(entry.id))).toEqual([]);
  });

  it('leaves nothing that delays a shutdown if it disconnects', async () => {
    const own = await startTestServer({ followers: true });
    const { id, token } = await newWrittenOrganization(own, 'gone');
    await lengthen(own, id, 25_000);
    const { stop, reader } = await openLines(own, token);
    await reader.read();
    stop.abort();
    await expect(own.close()).resolves.toBeUndefined();
  });

  it('gets an incomplete response if the server stops', async () => {
    const own = await startTestServer({ followers: true });
    const { id, token } = await newWrittenOrganization(own, 'stopped');
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

it('an export does not change the format that other readers get', async () => {
  const { token } = await newWrittenOrganization(server, 'plain');
  await readLines(server, token);
  expect((await requestTrail(server.as(token))).headers.get('content-type')).toBe('application/json');
});
