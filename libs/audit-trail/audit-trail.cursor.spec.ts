import { randomUUID } from 'node:crypto';
import { answered, makeOrganization, makeOrganizationToken, makeWorkspace } from '../../test/support/seeds.js';
import { startTestServer, type Api, type TestServer } from '../../test/support/server.js';
import { pruningChore } from './audit-trail.chore.js';
import type { CursorPagination } from './cursor.js';
import { actionsOf, ask, DAY_MS, idsOf, MovedClock, readTrail, type TrailPage } from './spec.js';

let server: TestServer;
const clock = new MovedClock();
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
});
afterAll(() => server.close());
afterEach(() => {
  clock.ahead = 0;
});

type Place = { readonly workspace: string; readonly reader: Api };

const makePlace = async (): Promise<Place> => {
  const { name } = await makeOrganization(server, `mill-${(number += 1)}`);
  const workspace = await makeWorkspace(server, name, 'wheel');
  return { workspace, reader: server.as(await makeOrganizationToken(server, name)) };
};

const act = async (workspace: string, action: 'lock' | 'unlock'): Promise<void> => {
  answered(await server.post(`/api/v2/workspaces/${workspace}/actions/${action}`, {}), 200);
};

type Following = TrailPage & { readonly pagination: CursorPagination };

const follow = async (reader: Api, after: string, query: Readonly<Record<string, string>> = {}): Promise<Following> =>
  (await readTrail(reader, { ...query, after })) as Following;

/** As a program would that keeps one text between its runs. */
const readOn = async (reader: Api, after: string, query: Readonly<Record<string, string>>): Promise<Following[]> => {
  const pages = [await follow(reader, after, query)];
  while (pages.at(-1)?.pagination.more) {
    pages.push(await follow(reader, pages.at(-1)?.pagination.next_after ?? '', query));
  }
  return pages;
};

const prune = () =>
  pruningChore(server.database, clock).run({ signal: new AbortController().signal, done: () => undefined });

const refusal = async (reader: Api, after: string): Promise<string> => {
  const { body } = answered(await ask(reader, { after }), 422);
  expect(body.errors[0].source).toEqual({ parameter: 'after' });
  return body.errors[0].detail as string;
};

describe('a cursor', () => {
  it('gives what comes after an entry, as it happened', async () => {
    const { reader } = await makePlace();
    const all = idsOf(await readTrail(reader)).toReversed();
    expect(idsOf(await follow(reader, ''))).toEqual(all);
    for (const [index, id] of all.entries()) {
      const page = await follow(reader, id);
      expect(idsOf(page)).toEqual(all.slice(index + 1));
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
      seen.push(...idsOf(page));
      after = page.pagination.next_after ?? '';
      await act(workspace, poll % 2 === 0 ? 'lock' : 'unlock');
    }
    seen.push(...(await readOn(reader, after, { 'page[size]': '2' })).flatMap((page) => idsOf(page)));
    expect(seen).toEqual(idsOf(await readTrail(reader)).toReversed());
  });

  it('has the keys of every other answer, and stays where it is when nothing has happened', async () => {
    const { reader } = await makePlace();
    const [newest = ''] = idsOf(await readTrail(reader));
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
    for (const action of ['lock', 'unlock', 'lock', 'unlock'] as const) await act(workspace, action);
    const pages = await readOn(reader, '', { 'filter[action]': 'lock', 'page[size]': '1' });
    expect(pages.map(actionsOf)).toEqual([['workspace lock'], ['workspace lock']]);
    const [newest] = idsOf(await readTrail(reader));
    expect(pages.at(-1)?.pagination).toMatchObject({ next_after: newest, more: false });
  });

  it('goes with since and until', async () => {
    const { reader } = await makePlace();
    const all = (await readTrail(reader)).data.toReversed();
    const query = { since: all[1]?.timestamp ?? '', until: all[4]?.timestamp ?? '' };
    const ids = all.map(({ id }) => id);
    expect(idsOf(await follow(reader, '', query))).toEqual(ids.slice(2, 5));
    const page = await follow(reader, ids[2] ?? '', query);
    expect(idsOf(page)).toEqual(ids.slice(3, 5));
    expect(page.pagination.next_after).toBe(ids[4]);
    expect(idsOf(await follow(reader, ids[0] ?? '', query))).toEqual(ids.slice(2, 5));
  });

  it('is refused where it is no entry of this trail: no id, nobody’s, or another organization’s', async () => {
    const [{ reader }, other] = [await makePlace(), await makePlace()];
    const [foreign = ''] = idsOf(await readTrail(other.reader));
    for (const after of ['x', '17', randomUUID(), foreign]) {
      expect(await refusal(reader, after)).toContain('After is not the id of an entry');
    }
  });

  it('does not go with page numbers', async () => {
    const { reader } = await makePlace();
    expect((await ask(reader, { after: '', 'page[number]': '2' })).status).toBe(400);
    expect((await ask(reader, { after: '', page: '2' })).status).toBe(400);
    expect((await ask(reader, { after: '', page: '1' })).status).toBe(200);
  });
});

describe('a cursor that has become too old', () => {
  it('is as good as ever for who has seen all there was', async () => {
    const { workspace, reader } = await makePlace();
    const [newest = ''] = idsOf(await readTrail(reader));
    clock.ahead = 40 * DAY_MS;
    for (const pruned of [false, true]) {
      if (pruned) await prune();
      expect(await follow(reader, newest)).toMatchObject({ data: [], pagination: { next_after: newest } });
    }
    await act(workspace, 'lock');
    await prune();
    expect(actionsOf(await follow(reader, newest))).toEqual(['workspace lock']);
  });

  it('is refused, in words of its own, for who has missed something', async () => {
    const { workspace, reader } = await makePlace();
    const [, missed = ''] = idsOf(await readTrail(reader));
    clock.ahead = 15 * DAY_MS;
    await act(workspace, 'lock');
    for (const pruned of [false, true]) {
      if (pruned) await prune();
      expect(await refusal(reader, missed)).toContain('not kept any more');
      const { body } = await ask(reader, { after: missed });
      expect(body.errors[0].meta).toEqual({ gone: true });
    }
    expect(actionsOf(await follow(reader, ''))).toEqual(['workspace lock']);
  });
});
