import { z } from 'zod';
import {
  MAX_FOLDERS,
  MAX_TAGS,
  type CommitMethods,
  type GitHost,
  type HostBranchCommit,
  type HostCommit,
  type HostRepository,
  type PullRequestMethods,
} from './git-host.js';
import { listPullRequestFiles, listPullRequests } from './gitea-pull-requests.http.js';
import { createWebhook, listWebhooks } from './gitea-webhooks.http.js';
import { HostRequests, type HostFetches } from './host-requests.http.js';
import { findSubmoduleInContents, toBranchCommit } from './repository-contents.http.js';
import { openIssueComments } from './issue-comments.http.js';
import { isBranchName, nullIfUnknown, requireRepositoryPath, toRepositoryPath } from './host-answers.js';
import { hostRows, hostText, parseTotal, path, refName, sha, shortenMessage, webAddress } from './host-texts.js';

const user = z.object({ login: hostText(255) });
const repository = z.object({ full_name: hostText(500), default_branch: hostText(1_000), html_url: webAddress });
const repositories = z.object({ data: hostRows(repository) });
const branch = z.object({ commit: z.object({ id: sha }) });
/** Tags and paths that do not fit are null, and left out. */
const tags = hostRows(
  z
    .object({ name: refName, commit: z.object({ sha }) })
    .nullable()
    .catch(null),
);
const commit = z.object({
  html_url: webAddress,
  commit: z.object({ message: z.string() }),
});
const comparison = z.object({
  total_commits: z.int(),
  commits: hostRows(z.object({ files: hostRows(z.object({ filename: path })).nullish() })).nullish(),
});
const commits = hostRows(
  z.object({
    sha,
    html_url: webAddress,
    commit: z.object({ message: z.string() }),
    parents: hostRows(z.object({ sha })).nullish(),
  }),
);
const tree = z.object({
  tree: hostRows(z.object({ path: path.nullable().catch(null), type: z.string() })),
  truncated: z.boolean(),
});

/** Gitea cuts larger pages of a tree to its own limit, which is 1,000 by default. */
const TREE_PAGE_SIZE = 1_000;
const MAX_TREE_PAGES = 20;

const toRepository = (row: z.infer<typeof repository>): HostRepository => ({
  identifier: row.full_name,
  defaultBranch: row.default_branch,
  httpUrl: row.html_url,
});

/** Returns a Gitea or Forgejo: both have the same API. */
export const createGiteaHost = (
  fetches: HostFetches,
  apiUrl: string,
  token: string,
  deadline: AbortSignal | null = null,
): GitHost => {
  const requests = new HostRequests(fetches, apiUrl, { authorization: `token ${token}` }, deadline);
  return {
    getUser: async () => ({ name: (await requests.read('/user', user)).login }),
    listRepositories: async ({ search = '', number, size }) => {
      const parameters = new URLSearchParams({ q: search, page: `${number}`, limit: `${size}`, sort: 'alpha' });
      const { body, headers } = await requests.readWithHeaders(`/repos/search?${parameters.toString()}`, repositories);
      return { repositories: body.data.map(toRepository), total: parseTotal(headers) ?? body.data.length };
    },
    findRepository: async (identifier) => {
      const path = toRepositoryPath(identifier);
      const row = path === null ? null : await requests.readOrNull(path, repository);
      return row && toRepository(row);
    },
    listFolders: async (identifier, name) => {
      const path = toRepositoryPath(identifier);
      if (path === null) return null;
      const head = await findHead(requests, path, name);
      return head === null ? null : readFolders(requests, `${path}/git/trees/${head}`);
    },
    findHead: (identifier, name) => findHead(requests, requireRepositoryPath(identifier), name),
    listTags: (identifier) => readTags(requests, requireRepositoryPath(identifier)),
    ...openCommits(requests),
    ...openPullRequests(requests),
  };
};

/** Returns the methods for commits and their contents. */
const openCommits = (requests: HostRequests): CommitMethods => ({
  getCommit: (identifier, id) =>
    readCommit(requests, `${requireRepositoryPath(identifier)}/git/commits/${encodeURIComponent(id)}`),
  listChangedFiles: (identifier, before, after) =>
    readChangedFiles(requests, `${requireRepositoryPath(identifier)}/compare`, before, after),
  listCommits: (identifier, id, count) =>
    readCommits(requests, `${requireRepositoryPath(identifier)}/commits?sha=${encodeURIComponent(id)}&limit=${count}`),
  listCommitFiles: (identifier, { parent, sha: id }) =>
    readComparedFiles(requests, `${requireRepositoryPath(identifier)}/compare`, parent, id),
  downloadArchive: (identifier, id) =>
    requests.download(`${requireRepositoryPath(identifier)}/archive/${encodeURIComponent(id)}.tar.gz`),
  findSubmodule: (identifier, id, path) =>
    findSubmoduleInContents(requests, requireRepositoryPath(identifier), id, path),
});

/** Returns the methods for pull requests, comments and webhooks. */
const openPullRequests = (requests: HostRequests): PullRequestMethods => ({
  ...openIssueComments(requests),
  listWebhooks: (identifier) => listWebhooks(requests, requireRepositoryPath(identifier)),
  createWebhook: (identifier, webhook) => createWebhook(requests, requireRepositoryPath(identifier), webhook),
  deleteWebhook: (identifier, id) =>
    requests.delete(`${requireRepositoryPath(identifier)}/hooks/${encodeURIComponent(id)}`),
  listPullRequests: (identifier) => listPullRequests(requests, requireRepositoryPath(identifier)),
  listPullRequestFiles: (identifier, number) =>
    listPullRequestFiles(requests, requireRepositoryPath(identifier), number),
  setStatus: async (identifier, id, { url: target_url, ...status }) => {
    const path = `${requireRepositoryPath(identifier)}/statuses/${encodeURIComponent(id)}`;
    await requests.write('POST', path, { ...status, target_url }, z.unknown());
  },
});

/** Returns null for names that no branch can have and that would be another path. */
const findHead = async (requests: HostRequests, path: string, name: string): Promise<string | null> => {
  if (!isBranchName(name)) return null;
  return (await requests.readOrNull(`${path}/branches/${encodeURIComponent(name)}`, branch))?.commit.id ?? null;
};

const readFolders = async (requests: HostRequests, path: string): Promise<readonly string[]> => {
  const folders: string[] = [];
  for (let page = 1; page <= MAX_TREE_PAGES && folders.length < MAX_FOLDERS; page += 1) {
    const body = await requests.read(`${path}?recursive=true&page=${page}&per_page=${TREE_PAGE_SIZE}`, tree);
    folders.push(...body.tree.flatMap((entry) => (entry.type === 'tree' && entry.path !== null ? [entry.path] : [])));
    if (!body.truncated) break;
  }
  return folders.slice(0, MAX_FOLDERS);
};

const readCommit = async (requests: HostRequests, path: string): Promise<HostCommit> => {
  const row = await requests.read(`${path}?stat=false&verification=false&files=false`, commit);
  return {
    message: shortenMessage(row.commit.message),
    url: row.html_url,
    cloneUrl: row.html_url.replace(/\/commit\/[^/]*$/, '.git'),
  };
};

const TAG_PAGE_SIZE = 50;
/** A host can have a limit for pages that is smaller than the requested size. */
const MAX_TAG_PAGES = 20;

const readTags = async (requests: HostRequests, path: string): Promise<{ name: string; sha: string }[]> => {
  const listed: { name: string; sha: string }[] = [];
  let read = 0;
  for (let page = 1; page <= MAX_TAG_PAGES && listed.length < MAX_TAGS; page += 1) {
    const address = `${path}/tags?page=${page}&limit=${TAG_PAGE_SIZE}`;
    const { body, headers } = await requests.readWithHeaders(address, tags);
    listed.push(...body.flatMap((tag) => (tag === null ? [] : [{ name: tag.name, sha: tag.commit.sha }])));
    read += body.length;
    if (body.length === 0 || read >= (parseTotal(headers) ?? Infinity)) break;
  }
  return listed.slice(0, MAX_TAGS);
};

const readCommits = async (requests: HostRequests, path: string): Promise<readonly HostBranchCommit[]> => {
  const rows = await requests.read(`${path}&stat=false&verification=false&files=false`, commits);
  return rows.map(toBranchCommit);
};

const compare = (requests: HostRequests, path: string, from: string, to: string) =>
  nullIfUnknown(requests.read(`${path}/${from}...${to}?verification=false`, comparison));

/** The host lists the files of each commit. Commits that lack their files, or a commit that is missing, make the list incomplete. */
const readComparedFiles = async (
  requests: HostRequests,
  path: string,
  before: string,
  after: string,
): Promise<readonly string[] | null> => {
  const forward = await compare(requests, path, before, after);
  if (forward === null) return null;
  const files = (forward.commits ?? []).map((one) => one.files ?? null);
  if (files.length === 0 || files.length < forward.total_commits || files.includes(null)) return null;
  return [...new Set(files.flatMap((one) => (one ?? []).map(({ filename }) => filename)))];
};

const readChangedFiles = async (
  requests: HostRequests,
  path: string,
  before: string,
  after: string,
): Promise<readonly string[] | null> => {
  const files = await readComparedFiles(requests, path, before, after);
  if (files === null) return null;
  // A forced push drops commits. The host does not list the files that the branch loses with them.
  const dropped = await compare(requests, path, after, before);
  if (dropped === null || dropped.total_commits !== 0 || (dropped.commits ?? []).length > 0) return null;
  return files;
};
