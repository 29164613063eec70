import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { OutboundError, type OutboundFetch } from '#platform/outbound';
import { hostRows } from './host-texts.js';
import { createGiteaHost } from './gitea.host.js';
import type { GitHost } from './git-host.js';

type Answer = { readonly body: unknown; readonly headers?: Readonly<Record<string, string>> };

const SHA = 'a'.repeat(40);
const OTHER_SHA = 'b'.repeat(40);
const REPOSITORY = { full_name: 'acme/network', default_branch: 'main', html_url: 'https://git.example.com/acme' };

/** Returns a host that answers each path of the API, with its query, as the function does. Other paths have the status 404. */
const openHost = (answer: (path: string) => Answer | undefined): GitHost => {
  const documents = (url: string | URL): Promise<Response> => {
    const document = answer(String(url).replace('https://git.example.com/api/v1', ''));
    return Promise.resolve(
      new Response(JSON.stringify(document?.body ?? {}), {
        status: document ? 200 : 404,
        headers: document?.headers ?? {},
      }),
    );
  };
  return createGiteaHost(
    { documents, largeDocuments: documents, files: documents },
    'https://git.example.com/api/v1',
    'token',
  );
};

describe('texts of a Git host', () => {
  it.each([
    ['too long', 'x'.repeat(3_000)],
    ['with a lone surrogate', 'ma\ud800in'],
    ['with a control character', 'ma\nin'],
    ['with NUL', 'ma\0in'],
  ])('are refused if they are %s', async (_, text) => {
    const refused = { failure: 'unexpected' };
    for (const name of ['full_name', 'default_branch', 'html_url']) {
      const value = name === 'html_url' ? `https://${text}` : text;
      const host = openHost(() => ({ body: { ...REPOSITORY, [name]: value } }));
      await expect(host.findRepository('acme/network')).rejects.toMatchObject(refused);
    }
    await expect(openHost(() => ({ body: { login: text } })).getUser()).rejects.toMatchObject(refused);
    const tags = [{ name: text, commit: { sha: SHA } }, { name: 'v1', commit: { sha: SHA } }, { name: 'v2' }];
    const listed = openHost(() => ({ body: tags, headers: { 'x-total-count': '3' } })).listTags('acme/network');
    expect(await listed).toEqual([{ name: 'v1', sha: SHA }]);
  });

  it('that no branch can have name no branch', async () => {
    expect(await openHost(() => ({ body: {} })).findHead('acme/network', '\ud800')).toBeNull();
  });

  it('count rows only with a number', async () => {
    for (const [count, total] of [
      ['7', 7],
      ['-7', 1],
      ['1e999', 1],
    ] as const) {
      const host = openHost(() => ({ body: { data: [REPOSITORY] }, headers: { 'x-total-count': count } }));
      expect((await host.listRepositories({ search: '', number: 1, size: 20 })).total).toBe(total);
    }
  });
});

describe('tags', () => {
  const makePages = (pageSize: number, total: number, headers: Readonly<Record<string, string>> = {}) => {
    const requested: number[] = [];
    const host = openHost((path) => {
      const page = Number(/page=(\d+)/.exec(path)?.[1]);
      requested.push(page);
      const count = Math.max(0, Math.min(pageSize, total - (page - 1) * pageSize));
      const body = Array.from({ length: count }, (_, row) => ({
        name: `v${(page - 1) * pageSize + row}`,
        commit: { sha: SHA },
      }));
      return { body, headers };
    });
    return { host, requested };
  };

  it('are listed by further pages if the host has a smaller limit for pages', async () => {
    const { host } = makePages(20, 45);
    expect((await host.listTags('acme/network')).map(({ name }) => name)).toEqual(
      Array.from({ length: 45 }, (_, number) => `v${number}`),
    );
  });

  it('end with the number of all tags, without another request', async () => {
    const { host, requested } = makePages(20, 20, { 'x-total-count': '20' });
    expect(await host.listTags('acme/network')).toHaveLength(20);
    expect(requested).toEqual([1]);
  });

  it('are limited, also if the host never ends', async () => {
    const { host, requested } = makePages(1, 1_000_000, { 'x-total-count': '-1' });
    expect(await host.listTags('acme/network')).toHaveLength(20);
    expect(requested).toHaveLength(20);
  });
});

describe('lists of a Git host', () => {
  it('with millions of wrong rows are refused at the first one', () => {
    let parsed = 0;
    const row = z.unknown().refine(() => {
      parsed += 1;
      return false;
    });
    expect(hostRows(row).safeParse([0, 0]).success).toBe(false);
    expect(hostRows(z.unknown()).safeParse(Array.from({ length: 10_001 })).success).toBe(false);
    expect(parsed).toBe(1);
    expect(hostRows(z.unknown(), 2).safeParse([0, 0]).data).toEqual([0, 0]);
  });
});

describe('requests to a Git host', () => {
  const API = 'https://git.example.com/api/v1';

  it('all end with one deadline', async () => {
    const ended = new AbortController();
    const pages: string[] = [];
    const documents: OutboundFetch = (url, { signal } = {}) => {
      signal?.throwIfAborted();
      pages.push(String(url));
      if (pages.length === 3) ended.abort();
      return Promise.resolve(new Response(JSON.stringify({ tree: [], truncated: true, commit: { id: SHA } })));
    };
    const host = createGiteaHost(
      { documents, largeDocuments: documents, files: documents },
      API,
      'token',
      ended.signal,
    );
    await expect(host.listFolders('acme/network', 'main')).rejects.toMatchObject({ failure: 'out-of-time' });
    expect(pages).toHaveLength(3);
  });

  it('list no unknown files if the deadline ends their comparison, which would start a run', async () => {
    const documents: OutboundFetch = () => Promise.reject(new OutboundError('git.example.com', 'timeout'));
    const fetches = { documents, largeDocuments: documents, files: documents };
    const compare = (deadline: AbortSignal) =>
      createGiteaHost(fetches, API, 'token', deadline).listChangedFiles('acme/network', SHA, OTHER_SHA);
    expect(await compare(new AbortController().signal)).toBeNull();
    await expect(compare(AbortSignal.abort())).rejects.toMatchObject({ failure: 'out-of-time' });
  });

  it('are not sent with a token that no header can have, and the error does not contain it', async () => {
    const documents: OutboundFetch = () => Promise.reject(new Error('sent'));
    const user = createGiteaHost({ documents, largeDocuments: documents, files: documents }, API, 'se\ncret').getUser();
    await expect(user).rejects.toMatchObject({
      failure: 'unauthorized',
      message: 'The token for git.example.com has characters that no token can have',
    });
  });
});

describe('changed files', () => {
  const list = (forward: unknown, back: unknown): Promise<readonly string[] | null> => {
    const answers: Readonly<Record<string, unknown>> = {
      [`/repos/acme/network/compare/${SHA}...${OTHER_SHA}?verification=false`]: forward,
      [`/repos/acme/network/compare/${OTHER_SHA}...${SHA}?verification=false`]: back,
    };
    return openHost((path) => (answers[path] === undefined ? undefined : { body: answers[path] })).listChangedFiles(
      'acme/network',
      SHA,
      OTHER_SHA,
    );
  };
  const commits = (...names: readonly string[]) => ({
    total_commits: names.length,
    commits: names.map((filename) => ({ files: [{ filename }] })),
  });

  it('are those of all commits of a push', async () => {
    expect(await list(commits('a.tf', 'b.tf', 'a.tf'), { total_commits: 0, commits: null })).toEqual(['a.tf', 'b.tf']);
  });

  it.each<[string, unknown, unknown]>([
    ['a forced push drops commits', commits('a.tf'), commits('b.tf')],
    ['the host has forgotten the commits before', commits('a.tf'), undefined],
    ['the host lists not all commits', { ...commits('a.tf'), total_commits: 2 }, commits()],
    ['a path is too long', commits('a'.repeat(5_000)), commits()],
  ])('are unknown if %s', async (_, forward, back) => {
    expect(await list(forward, back)).toBeNull();
  });
});

it('reads comments once from a Gitea that lists all comments as each page', async () => {
  const paths: string[] = [];
  const others = Array.from({ length: 150 }, (_, id) => ({ id, body: 'text', user: { login: 'bot' } }));
  const host = openHost((path) => {
    paths.push(path);
    return { body: path === '/user' ? { login: 'bot' } : others };
  });
  expect(await host.findComment('acme/network', 7, 'mark')).toBeNull();
  expect(paths).toEqual([
    '/user',
    ...[1, 2].map((page) => expect.stringContaining(`comments?per_page=100&page=${page}`)),
  ]);
});
