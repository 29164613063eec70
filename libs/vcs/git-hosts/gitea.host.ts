import { z } from 'zod';
import type { OutboundFetch } from '#platform/outbound';
import { MAX_FOLDERS, type GitHost, type HostRepository } from './git-host.js';
import { HostRequests } from './host-requests.http.js';

const user = z.object({ login: z.string() });
const repository = z.object({ full_name: z.string(), default_branch: z.string(), html_url: z.string() });
const repositories = z.object({ data: z.array(repository) });
const branch = z.object({ commit: z.object({ id: z.string() }) });
const tree = z.object({
  tree: z.array(z.object({ path: z.string(), type: z.string() })),
  truncated: z.boolean(),
});

/** Gitea cuts larger pages of a tree to its own limit, which is 1,000 by default. */
const TREE_PAGE_SIZE = 1_000;
const MAX_TREE_PAGES = 20;

const IDENTIFIER = /^([\w.-]{1,200})\/([\w.-]{1,200})$/;

const toRepository = (row: z.infer<typeof repository>): HostRepository => ({
  identifier: row.full_name,
  defaultBranch: row.default_branch,
  httpUrl: row.html_url,
});

/** Returns the path of the repository in the API; null if no repository can have the identifier. */
const toRepositoryPath = (identifier: string): string | null => {
  const [, owner, name] = IDENTIFIER.exec(identifier) ?? [];
  // The two names of folders would leave the path of repositories.
  return owner === undefined || name === undefined || [owner, name].some((part) => /^\.\.?$/.test(part))
    ? null
    : `/repos/${owner}/${name}`;
};

/** Returns a Gitea or Forgejo: both have the same API. */
export const createGiteaHost = (fetch: OutboundFetch, apiUrl: string, token: string): GitHost => {
  const requests = new HostRequests(fetch, apiUrl, { authorization: `token ${token}` });
  return {
    getUser: async () => ({ name: (await requests.read('/user', user)).login }),
    listRepositories: async ({ search = '', number, size }) => {
      const parameters = new URLSearchParams({ q: search, page: `${number}`, limit: `${size}`, sort: 'alpha' });
      const { body, headers } = await requests.readWithHeaders(`/repos/search?${parameters.toString()}`, repositories);
      const total = Number(headers.get('x-total-count') ?? body.data.length);
      return { repositories: body.data.map(toRepository), total: Number.isSafeInteger(total) ? total : 0 };
    },
    findRepository: async (identifier) => {
      const path = toRepositoryPath(identifier);
      const row = path === null ? null : await requests.readOrNull(path, repository);
      return row && toRepository(row);
    },
    listFolders: async (identifier, name) => {
      const path = toRepositoryPath(identifier);
      if (path === null) return null;
      const head = await requests.readOrNull(`${path}/branches/${encodeURIComponent(name)}`, branch);
      return head && readFolders(requests, `${path}/git/trees/${encodeURIComponent(head.commit.id)}`);
    },
  };
};

const readFolders = async (requests: HostRequests, path: string): Promise<readonly string[]> => {
  const folders: string[] = [];
  for (let page = 1; page <= MAX_TREE_PAGES && folders.length < MAX_FOLDERS; page += 1) {
    const body = await requests.read(`${path}?recursive=true&page=${page}&per_page=${TREE_PAGE_SIZE}`, tree);
    folders.push(...body.tree.filter(({ type }) => type === 'tree').map((entry) => entry.path));
    if (!body.truncated) break;
  }
  return folders.slice(0, MAX_FOLDERS);
};
