import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sql } from '#kernel';
import type { Database } from '#postgres';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { readWholeLog } from '../../../test/support/event-log.js';
import { waitForCondition } from '../../event-store/spec.js';
import { expectStatus, makeConfigurationVersion, makeRun } from '../../../test/support/seeds.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { createPruningJob } from '../retention/pruning.job.js';
import type { CursorPagination } from './cursor.js';
import { listActions, requestTrail, DAY_MS, listIds, readLines, readTrail, type TestTrailPage } from '../spec.js';

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

const makePlace = (): Promise<AuditedOrganization> => createAuditedOrganization(server, `mill-${(number += 1)}`);

type Following = TestTrailPage & { readonly pagination: CursorPagination };

const follow = async (
  reader: ApiTestClient,
  after: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Following> => (await readTrail(reader, { ...query, after })) as Following;

/** As a program would that keeps one text between its runs. */
const readOn = async (
  reader: ApiTestClient,
  after: string,
  query: Readonly<Record<string, string>>,
): Promise<Following[]> => {
  const pages = [await follow(reader, after, query)];
  while (pages.at(-1)?.pagination.more) {
    pages.push(await follow(reader, pages.at(-1)?.pagination.next_after ?? '', query));
  }
  return pages;
};

const prune = () => runJobOnce(createPruningJob(server.database, clock));

const refusal = async (reader: ApiTestClient, after: string): Promise<string> => {
  const { body } = expectStatus(await requestTrail(reader, { after }), 422);
  expect(body.errors[0].source).toEqual({ parameter: 'after' });
  return body.errors[0].detail as string;
};

describe('a cursor', () => {
  it('is no event that is told of nowhere, and that is no reason to begin anew', async () => {
    const { workspace, reader } = await makePlace();
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace);
    await waitForCondition(async () =>
      (await readWholeLog(server.store)).some(({ type, stream }) => stream === run && type === 'RunQueued'),
    );
    const untold = (await readWholeLog(server.store)).find(
      ({ type, stream }) => stream === run && type === 'RunQueued',
    );
    const { body } = expectStatus(await requestTrail(reader, { after: untold?.id ?? '' }), 422);
    expect(body.errors[0]).toMatchObject({ detail: 'After is not the id of an entry of this trail' });
    expect(body.errors[0].meta).toBeUndefined();
  });

  it('gives what comes after an entry, as it happened', async () => {
    const { reader } = await makePlace();
    const all = listIds(await readTrail(reader)).toReversed();
    expect(listIds(await follow(reader, ''))).toEqual(all);
    for (const [index, id] of all.entries()) {
      const page = await follow(reader, id);
      expect(listIds(page)).toEqual(all.slice(index + 1));
      expect(page.pagination).toMatchObject({
        next_after: all.at(-1),
        more: false,
        total_count: all.length - index - 1,
      });
    }
  });

  it('has every entry once for who goes on at next_after, whatever happens meanwhile', async () => {
    const { workspace, reader } = await makePlace();
    const seen: string[] = [];
    let after = '';
    for (let poll = 0; poll < 12; poll += 1) {
      const page = await follow(reader, after, { 'page[size]': '3' });
      seen.push(...listIds(page));
      after = page.pagination.next_after ?? '';
      await act(server, workspace, poll % 2 === 0 ? 'lock' : 'unlock');
    }
    seen.push(...(await readOn(reader, after, { 'page[size]': '2' })).flatMap((page) => listIds(page)));
    expect(seen).toEqual(listIds(await readTrail(reader)).toReversed());
  });

  it('has the keys of every other answer, and stays where it is when nothing has happened', async () => {
    const { reader } = await makePlace();
    const [newest = ''] = listIds(await readTrail(reader));
    expect(await follow(reader, newest)).toEqual({
      data: [],
      pagination: {
        current_page: 1,
        prev_page: null,
        next_page: null,
        total_pages: 0,
        total_count: 0,
        page_size: 1_000,
        next_after: newest,
        more: false,
      },
    });
  });

  it('goes with filters, and moves past what they leave out', async () => {
    const { workspace, reader } = await makePlace();
    for (const action of ['lock', 'unlock', 'lock', 'unlock'] as const) await act(server, workspace, action);
    const pages = await readOn(reader, '', { 'filter[action]': 'lock', 'page[size]': '1' });
    expect(pages.map(listActions)).toEqual([['workspace lock'], ['workspace lock']]);
    const [newest] = listIds(await readTrail(reader));
    expect(pages.at(-1)?.pagination).toMatchObject({ next_after: newest, more: false });
  });

  it('goes with since and until', async () => {
    const { reader } = await makePlace();
    const all = (await readTrail(reader)).data.toReversed();
    const query = { since: all[1]?.timestamp ?? '', until: all[4]?.timestamp ?? '' };
    const ids = all.map(({ id }) => id);
    expect(listIds(await follow(reader, '', query))).toEqual(ids.slice(2, 5));
    const page = await follow(reader, ids[2] ?? '', query);
    expect(listIds(page)).toEqual(ids.slice(3, 5));
    expect(page.pagination.next_after).toBe(ids[4]);
    expect(listIds(await follow(reader, ids[0] ?? '', query))).toEqual(ids.slice(2, 5));
  });

  it('is refused where it is no entry of this trail: no id, nobody’s, or another organization’s', async () => {
    const [{ reader }, other] = [await makePlace(), await makePlace()];
    const [foreign = ''] = listIds(await readTrail(other.reader));
    for (const after of ['x', '17', randomUUID(), foreign]) {
      expect(await refusal(reader, after)).toContain('After is not the id of an entry');
    }
  });

  it('does not go with page numbers', async () => {
    const { reader } = await makePlace();
    expect((await requestTrail(reader, { after: '', 'page[number]': '2' })).status).toBe(400);
    expect((await requestTrail(reader, { after: '', page: '2' })).status).toBe(400);
    expect((await requestTrail(reader, { after: '', page: '1' })).status).toBe(200);
  });
});

describe('a cursor that has become too old', () => {
  it('is as good as ever for who has seen all there was', async () => {
    const { workspace, reader } = await makePlace();
    const [newest = ''] = listIds(await readTrail(reader));
    clock.offsetMs = 40 * DAY_MS;
    for (const pruned of [false, true]) {
      if (pruned) await prune();
      expect(await follow(reader, newest)).toMatchObject({ data: [], pagination: { next_after: newest } });
    }
    await act(server, workspace, 'lock');
    await prune();
    expect(listActions(await follow(reader, newest))).toEqual(['workspace lock']);
  });

  it('is refused, in words of its own, for who has missed something', async () => {
    const { workspace, reader } = await makePlace();
    const [, missed = ''] = listIds(await readTrail(reader));
    clock.offsetMs = 15 * DAY_MS;
    await act(server, workspace, 'lock');
    for (const pruned of [false, true]) {
      if (pruned) await prune();
      expect(await refusal(reader, missed)).toContain('not kept any more');
      const { body } = await requestTrail(reader, { after: missed });
      expect(body.errors[0].meta).toEqual({ gone: true });
    }
    expect(listActions(await follow(reader, ''))).toEqual(['workspace lock']);
  });
});

describe('what is pruned between how the trail is found to stand and what is read of it', () => {
  const pruneMeanwhile = (days: number): void => {
    const { database } = server;
    const row = database.row.bind(database);
    database.row = (async (statement: Sql) => {
      const found = await row(statement);
      if (found && 'retained' in found) {
        database.row = row;
        clock.offsetMs = days * DAY_MS;
        await prune();
      }
      return found;
    }) as Database['row'];
  };

  /** Some entries of today, and three of ten days later. */
  const makeOldPlace = async (): Promise<AuditedOrganization & { readonly ids: readonly string[] }> => {
    const place = await makePlace();
    clock.offsetMs = 10 * DAY_MS;
    for (const action of ['lock', 'unlock', 'lock'] as const) await act(server, place.workspace, action);
    return { ...place, ids: listIds(await readTrail(place.reader)).toReversed() };
  };

  it('is not what a page from the oldest on ends with: it begins with those that are left', async () => {
    const { reader, ids } = await makeOldPlace();
    pruneMeanwhile(15);
    const page = await follow(reader, '', { 'page[size]': '2' });
    // The newest that is too old stays.
    const left = ids.slice(-4);
    expect(listIds(page)).toEqual(left.slice(0, 2));
    expect(page.pagination).toMatchObject({ next_after: left[1], more: true });
    expect(listIds(await follow(reader, left[1] ?? ''))).toEqual(left.slice(2));
  });

  it.each([{}, { 'filter[resource-type]': 'workspace' }])(
    'is told to whose cursor stands before it, filtered by %j',
    async (query) => {
      const { reader, token, ids } = await makeOldPlace();
      pruneMeanwhile(15);
      const { body } = expectStatus(await requestTrail(reader, { ...query, after: ids[0] ?? '' }), 422);
      expect(body.errors[0].meta).toEqual({ gone: true });
      pruneMeanwhile(30);
      await expect(readLines(server, token, { ...query, after: ids.at(-3) ?? '' })).rejects.toThrow(/422.*"gone":true/);
    },
  );

  it('is no matter to whose cursor stands behind it', async () => {
    const { reader, ids } = await makeOldPlace();
    pruneMeanwhile(15);
    expect(listIds(await follow(reader, ids.at(-4) ?? ''))).toEqual(ids.slice(-3));
  });

  it('is missing at the beginning of an export', async () => {
    const { token, ids } = await makeOldPlace();
    pruneMeanwhile(15);
    expect((await readLines(server, token)).map(({ id }) => id)).toEqual(ids.slice(-4));
  });
});
