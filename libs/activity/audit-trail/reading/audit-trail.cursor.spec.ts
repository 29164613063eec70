import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { waitForCondition } from '../../../storage/event-store/spec.js';
import { expectStatus, makeConfigurationVersion, makeRun } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
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

const newAuditedOrganization = (): Promise<AuditedOrganization> =>
  createAuditedOrganization(server, `mill-${(number += 1)}`);

type Following = TestTrailPage & { readonly pagination: CursorPagination };

const follow = async (
  reader: ApiTestClient,
  after: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Following> => (await readTrail(reader, { ...query, after })) as Following;

/** Reads on from a cursor to the end, like a program that stores only the cursor between its runs. */
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

describe('a cursor of the audit trail', () => {
  it('is refused without `gone` if it is the id of an event that the audit trail does not record', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    await makeConfigurationVersion(server, workspace);
    const run = await makeRun(server, workspace);
    await waitForCondition(async () =>
      (await readWholeLog(server.store)).some(({ type, stream }) => stream === run && type === 'RunQueued'),
    );
    const unaudited = (await readWholeLog(server.store)).find(
      ({ type, stream }) => stream === run && type === 'RunQueued',
    );
    const { body } = expectStatus(await requestTrail(reader, { after: unaudited?.id ?? '' }), 422);
    expect(body.errors[0]).toMatchObject({ detail: 'After is not the id of an entry of this trail' });
    expect(body.errors[0].meta).toBeUndefined();
  });

  it('returns the entries after an entry, oldest first', async () => {
    const { reader } = await newAuditedOrganization();
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

  it('returns every entry once if the reader continues at next_after, whatever happens in the meantime', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    const ids: string[] = [];
    let after = '';
    for (let poll = 0; poll < 12; poll += 1) {
      const page = await follow(reader, after, { 'page[size]': '3' });
      ids.push(...listIds(page));
      after = page.pagination.next_after ?? '';
      await act(server, workspace, poll % 2 === 0 ? 'lock' : 'unlock');
    }
    ids.push(...(await readOn(reader, after, { 'page[size]': '2' })).flatMap((page) => listIds(page)));
    expect(ids).toEqual(listIds(await readTrail(reader)).toReversed());
  });

  it('has all keys of other paginations, and does not move if nothing has happened', async () => {
    const { reader } = await newAuditedOrganization();
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

  it('works with filters, and moves past entries that they exclude', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    for (const action of ['lock', 'unlock', 'lock', 'unlock'] as const) await act(server, workspace, action);
    const pages = await readOn(reader, '', { 'filter[action]': 'lock', 'page[size]': '1' });
    expect(pages.map(listActions)).toEqual([['workspace lock'], ['workspace lock']]);
    const [newest] = listIds(await readTrail(reader));
    expect(pages.at(-1)?.pagination).toMatchObject({ next_after: newest, more: false });
  });

  it('works with since and until', async () => {
    const { reader } = await newAuditedOrganization();
    const all = (await readTrail(reader)).data.toReversed();
    const query = { since: all[1]?.timestamp ?? '', until: all[4]?.timestamp ?? '' };
    const ids = all.map(({ id }) => id);
    expect(listIds(await follow(reader, '', query))).toEqual(ids.slice(2, 5));
    const page = await follow(reader, ids[2] ?? '', query);
    expect(listIds(page)).toEqual(ids.slice(3, 5));
    expect(page.pagination.next_after).toBe(ids[4]);
    expect(listIds(await follow(reader, ids[0] ?? '', query))).toEqual(ids.slice(2, 5));
  });

  it('is refused if it is not the id of an entry of this audit trail', async () => {
    const [{ reader }, other] = [await newAuditedOrganization(), await newAuditedOrganization()];
    const [foreign = ''] = listIds(await readTrail(other.reader));
    for (const after of ['x', '17', randomUUID(), foreign]) {
      expect(await refusal(reader, after)).toContain('After is not the id of an entry');
    }
  });

  it('cannot be combined with page numbers', async () => {
    const { reader } = await newAuditedOrganization();
    expect((await requestTrail(reader, { after: '', 'page[number]': '2' })).status).toBe(400);
    expect((await requestTrail(reader, { after: '', page: '2' })).status).toBe(400);
    expect((await requestTrail(reader, { after: '', page: '1' })).status).toBe(200);
  });
});

describe('an expired cursor', () => {
  it('still works for a reader that has missed nothing', async () => {
    const { workspace, reader } = await newAuditedOrganization();
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

  it('is refused with its own error for a reader that has missed entries', async () => {
    const { workspace, reader } = await newAuditedOrganization();
    const [, missed = ''] = listIds(await readTrail(reader));
    clock.offsetMs = 15 * DAY_MS;
    await act(server, workspace, 'lock');
    for (const pruned of [false, true]) {
      if (pruned) await prune();
      expect(await refusal(reader, missed)).toContain('have been deleted');
      const { body } = await requestTrail(reader, { after: missed });
      expect(body.errors[0].meta).toEqual({ gone: true });
    }
    expect(listActions(await follow(reader, ''))).toEqual(['workspace lock']);
  });
});

describe('pruning between reading the window and reading the entries', () => {
  const pruneMeanwhile = (days: number): void => {
    const { database } = server;
    const row = database.row.bind(database);
    database.row = (async (statement: Sql) => {
      const result = await row(statement);
      if (result && 'retained' in result) {
        database.row = row;
        clock.offsetMs = days * DAY_MS;
        await prune();
      }
      return result;
    }) as Database['row'];
  };

  /** Creates an organization with some entries of today, and three that are ten days later. */
  const newOrganizationWithOldEntries = async (): Promise<
    AuditedOrganization & { readonly ids: readonly string[] }
  > => {
    const audited = await newAuditedOrganization();
    clock.offsetMs = 10 * DAY_MS;
    for (const action of ['lock', 'unlock', 'lock'] as const) await act(server, audited.workspace, action);
    return { ...audited, ids: listIds(await readTrail(audited.reader)).toReversed() };
  };

  it('leaves a page from the oldest entry with the remaining entries', async () => {
    const { reader, ids } = await newOrganizationWithOldEntries();
    pruneMeanwhile(15);
    const page = await follow(reader, '', { 'page[size]': '2' });
    // The newest expired entry of each audit trail is not deleted.
    const remaining = ids.slice(-4);
    expect(listIds(page)).toEqual(remaining.slice(0, 2));
    expect(page.pagination).toMatchObject({ next_after: remaining[1], more: true });
    expect(listIds(await follow(reader, remaining[1] ?? ''))).toEqual(remaining.slice(2));
  });

  it.each([{}, { 'filter[resource-type]': 'workspace' }])(
    'is reported to a reader whose cursor is before the pruned entries, filtered by %j',
    async (query) => {
      const { reader, token, ids } = await newOrganizationWithOldEntries();
      pruneMeanwhile(15);
      const { body } = expectStatus(await requestTrail(reader, { ...query, after: ids[0] ?? '' }), 422);
      expect(body.errors[0].meta).toEqual({ gone: true });
      pruneMeanwhile(30);
      await expect(readLines(server, token, { ...query, after: ids.at(-3) ?? '' })).rejects.toThrow(/422.*"gone":true/);
    },
  );

  it('does not affect a reader whose cursor is after the pruned entries', async () => {
    const { reader, ids } = await newOrganizationWithOldEntries();
    pruneMeanwhile(15);
    expect(listIds(await follow(reader, ids.at(-4) ?? ''))).toEqual(ids.slice(-3));
  });

  it('shortens the beginning of an export', async () => {
    const { token, ids } = await newOrganizationWithOldEntries();
    pruneMeanwhile(15);
    expect((await readLines(server, token)).map(({ id }) => id)).toEqual(ids.slice(-4));
  });
});
