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
import {
  createProjectHook,
  listMergeRequestFiles,
  listMergeRequests,
  listProjectHooks,
  setCommitStatus,
} from './gitlab-merge-requests.http.js';
import { isBranchName, nullIfUnknown, PAGE_SIZE, readPages, requirePath } from './host-answers.js';
import { HostRequests, type HostFetches } from './host-requests.http.js';
import { openMergeRequestNotes } from './merge-request-notes.http.js';
import { hostRows, hostText, parseTotal, path, refName, sha, shortenMessage, webAddress } from './host-texts.js';

const user = z.object({ username: hostText(255) });
/** A project without commits has no default branch. */
const project = z.object({
  path_with_namespace: hostText(500),
  default_branch: hostText(1_000).nullish(),
  web_url: webAddress,
});
const projects = hostRows(project);
const branch = z.object({ commit: z.object({ id: sha }) });
/** Tags and paths that do not fit are null, and left out. */
const tags = hostRows(
  z
    .object({ name: refName, commit: z.object({ id: sha }) })
    .nullable()
    .catch(null),
);
const commit = z.object({ web_url: webAddress, message: z.string() });
const commits = hostRows(
  z.object({ id: sha, web_url: webAddress, message: z.string(), parent_ids: hostRows(sha).nullish() }),
);
const entries = hostRows(z.object({ path: path.nullable().catch(null), type: z.string() }));
/** Entries that are no submodules are null. */
const submodules = hostRows(
  z
    .object({ id: sha, path, type: z.literal('commit') })
    .nullable()
    .catch(null),
);
const comparison = z.object({
  commits: hostRows(z.unknown()),
  diffs: hostRows(z.object({ old_path: path, new_path: path, collapsed: z.boolean().nullish() })),
  compare_timeout: z.boolean().nullish(),
});

const MAX_TREE_PAGES = 20;
/** The limit of a comparison is from 1,000 to 3,000 files, as the administrators of the host set it. */
const MAX_COMPARED_FILES = 1_000;

/** A project is in a group, which can be in other groups. */
const IDENTIFIER = /^[\w.-]{1,200}(\/[\w.-]{1,200}){1,20}$/;

const toRepository = (row: z.infer<typeof project>): HostRepository => ({
  identifier: row.path_with_namespace,
  defaultBranch: row.default_branch ?? '',
  httpUrl: row.web_url,
});

/** Returns the path of a project in the API; null if no project can have the identifier. */
const toProjectPath = (identifier: string): string | null =>
  IDENTIFIER.test(identifier) ? `/projects/${encodeURIComponent(identifier)}` : null;

/** Returns the path of a project like `requirePath`. */
const getPath = (identifier: string): string => requirePath(toProjectPath(identifier), identifier);

/** Returns a GitLab, of GitLab.com or of others. */
export const createGitlabHost = (
  fetches: HostFetches,
  apiUrl: string,
  token: string,
  deadline: AbortSignal | null = null,
): GitHost => {
  const requests = new HostRequests(fetches, apiUrl, { authorization: `Bearer ${token}` }, deadline);
  return {
    getUser: async () => ({ name: (await requests.read('/user', user)).username }),
    listRepositories: async ({ search = '', number, size }) => {
      const options = { membership: 'true', simple: 'true', order_by: 'path', sort: 'asc' };
      const page = { page: `${number}`, per_page: `${size}`, ...(search !== '' && { search }) };
      const parameters = new URLSearchParams({ ...options, ...page });
      const { body, headers } = await requests.readWithHeaders(`/projects?${parameters.toString()}`, projects);
      // The host counts at most 10,000 projects.
      const read = (number - 1) * size + body.length;
      const total = parseTotal(headers, 'x-total') ?? (body.length < size ? read : read + 1);
      return { repositories: body.map(toRepository), total };
    },
    findRepository: async (identifier) => {
      const path = toProjectPath(identifier);
      const row = path === null ? null : await requests.readOrNull(path, project);
      return row && toRepository(row);
    },
    listFolders: async (identifier, name) => {
      const path = toProjectPath(identifier);
      const head = path === null ? null : await findHead(requests, path, name);
      return head === null ? null : readFolders(requests, `${path}/repository/tree?ref=${head}&recursive=true`);
    },
    findHead: (identifier, name) => findHead(requests, getPath(identifier), name),
    listTags: (identifier) => readTags(requests, `${getPath(identifier)}/repository/tags`),
    ...openCommits(requests),
    ...openPullRequests(requests),
  };
};

/** Returns the methods for commits and their contents. */
const openCommits = (requests: HostRequests): CommitMethods => ({
  getCommit: (identifier, id) =>
    readCommit(requests, `${getPath(identifier)}/repository/commits/${encodeURIComponent(id)}?stats=false`),
  listChangedFiles: (identifier, before, after) =>
    readChangedFiles(requests, `${getPath(identifier)}/repository/compare`, before, after),
  listCommits: (identifier, id, count) =>
    readCommits(
      requests,
      `${getPath(identifier)}/repository/commits?ref_name=${encodeURIComponent(id)}&per_page=${count}`,
    ),
  listCommitFiles: (identifier, { parent, sha: id }) =>
    readComparedFiles(requests, `${getPath(identifier)}/repository/compare`, parent, id),
  downloadArchive: (identifier, id) =>
    requests.download(`${getPath(identifier)}/repository/archive.tar.gz?sha=${encodeURIComponent(id)}`),
  findSubmodule: openSubmodules(requests),
});

/** Returns the methods for pull requests, comments and webhooks. */
const openPullRequests = (requests: HostRequests): PullRequestMethods => ({
  ...openMergeRequestNotes(requests, getPath),
  listWebhooks: (identifier) => listProjectHooks(requests, getPath(identifier)),
  createWebhook: (identifier, webhook) => createProjectHook(requests, getPath(identifier), webhook),
  deleteWebhook: (identifier, id) => requests.delete(`${getPath(identifier)}/hooks/${encodeURIComponent(id)}`),
  listPullRequests: (identifier) => listMergeRequests(requests, getPath(identifier)),
  listPullRequestFiles: (identifier, number) => listMergeRequestFiles(requests, getPath(identifier), number),
  setStatus: (identifier, id, status) => setCommitStatus(requests, getPath(identifier), id, status),
});

const findHead = async (requests: HostRequests, path: string, name: string): Promise<string | null> => {
  if (!isBranchName(name)) return null;
  const address = `${path}/repository/branches/${encodeURIComponent(name)}`;
  return (await requests.readOrNull(address, branch))?.commit.id ?? null;
};

const readFolders = async (requests: HostRequests, path: string): Promise<readonly string[]> => {
  const folders: string[] = [];
  for (let page = 1; page <= MAX_TREE_PAGES && folders.length < MAX_FOLDERS; page += 1) {
    const rows = await requests.read(`${path}&per_page=${PAGE_SIZE}&page=${page}`, entries);
    folders.push(...rows.flatMap((entry) => (entry.type === 'tree' && entry.path !== null ? [entry.path] : [])));
    if (rows.length < PAGE_SIZE) break;
  }
  return folders.slice(0, MAX_FOLDERS);
};

/**
 * Returns the method that finds a submodule. The host has no address for one entry, only lists of folders, which are kept: the content of
 * a commit never changes.
 */
const openSubmodules = (requests: HostRequests): CommitMethods['findSubmodule'] => {
  const folders = new Map<string, ReadonlyMap<string, string>>();
  return async (identifier, id, path) => {
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
    const tree = `${getPath(identifier)}/repository/tree`;
    const address = `${tree}?ref=${encodeURIComponent(id)}&path=${encodeURIComponent(folder)}`;
    const submoduleShas = folders.get(address) ?? (await readSubmodules(requests, address));
    folders.set(address, submoduleShas);
    return submoduleShas.get(path) ?? null;
  };
};

/** Returns the commits of the submodules in a folder, by their paths. */
const readSubmodules = async (requests: HostRequests, address: string): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await readPages(
    MAX_TREE_PAGES,
    // A folder that does not exist has no submodule.
    async (page) => (await requests.readOrNull(`${address}&per_page=${PAGE_SIZE}&page=${page}`, submodules)) ?? [],
  );
  return new Map(rows.flatMap((row) => (row === null ? [] : [[row.path, row.id] as const])));
};

const readTags = async (requests: HostRequests, path: string) => {
  const { rows } = await readPages(MAX_TAGS / PAGE_SIZE, (page) =>
    requests.read(`${path}?order_by=updated&sort=desc&per_page=${PAGE_SIZE}&page=${page}`, tags),
  );
  return rows.flatMap((tag) => (tag === null ? [] : [{ name: tag.name, sha: tag.commit.id }]));
};

const readCommit = async (requests: HostRequests, path: string): Promise<HostCommit> => {
  const row = await requests.read(path, commit);
  return {
    message: shortenMessage(row.message),
    url: row.web_url,
    cloneUrl: row.web_url.replace(/\/-\/commit\/[^/]*$/, '.git'),
  };
};

const readCommits = async (requests: HostRequests, path: string): Promise<readonly HostBranchCommit[]> => {
  const rows = await requests.read(path, commits);
  return rows.map((row) => ({
    sha: row.id,
    parent: row.parent_ids?.[0] ?? null,
    message: shortenMessage(row.message),
    url: row.web_url,
  }));
};

const compare = (requests: HostRequests, path: string, from: string, to: string) =>
  nullIfUnknown(requests.readLarge(`${path}?from=${from}&to=${to}&straight=false`, comparison));

/** The host leaves files out beyond limits of files and lines. Beyond smaller limits, it collapses what follows. */
const readComparedFiles = async (
  requests: HostRequests,
  path: string,
  before: string,
  after: string,
): Promise<readonly string[] | null> => {
  const forward = await compare(requests, path, before, after);
  if (forward === null || forward.compare_timeout) return null;
  const { diffs } = forward;
  if (diffs.length >= MAX_COMPARED_FILES || diffs.some(({ collapsed }) => collapsed)) return null;
  return [...new Set(diffs.flatMap((diff) => [diff.new_path, diff.old_path]))];
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
  return dropped === null || dropped.commits.length > 0 ? null : files;
};
