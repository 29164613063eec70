import { z } from 'zod';
import {
  GitHostError,
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
  createGithubWebhook,
  listGithubPullRequestFiles,
  listGithubPullRequests,
  listGithubWebhooks,
} from './github-pull-requests.http.js';
import { isBranchName, nullIfUnknown, PAGE_SIZE, requireRepositoryPath, toRepositoryPath } from './host-answers.js';
import { HostRequests, type HostFetches } from './host-requests.http.js';
import { findSubmoduleInContents, toBranchCommit } from './repository-contents.http.js';
import { openIssueComments } from './issue-comments.http.js';
import { hostRows, hostText, path, refName, sha, shortenMessage, webAddress } from './host-texts.js';

const user = z.object({ login: hostText(255) });
const repository = z.object({ full_name: hostText(500), default_branch: hostText(1_000), html_url: webAddress });
const repositories = hostRows(repository);
const branch = z.object({ commit: z.object({ sha }) });
const commit = z.object({ html_url: webAddress, message: z.string() });
const commits = hostRows(
  z.object({
    sha,
    html_url: webAddress,
    commit: z.object({ message: z.string() }),
    parents: hostRows(z.object({ sha })),
  }),
);
const comparison = z.object({
  status: z.enum(['ahead', 'behind', 'diverged', 'identical']),
  files: hostRows(z.object({ filename: path, previous_filename: path.exactOptional() })).exactOptional(),
});
/** The host lists no more entries of a tree. */
const MAX_TREE_ENTRIES = 100_000;
const tree = z.object({
  tree: hostRows(z.object({ path: path.nullable().catch(null), type: z.string() }), MAX_TREE_ENTRIES),
});

/** A tag names a commit, or an object that names one. Tags that do not fit are null, and left out. */
const tag = z
  .object({ name: refName, target: z.object({ oid: sha, target: z.object({ oid: sha }).nullish() }) })
  .nullable()
  .catch(null);
const tagsAnswer = z.object({
  data: z
    .object({
      repository: z
        .object({
          refs: z
            .object({
              nodes: hostRows(tag),
              pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().max(1_000).nullable() }),
            })
            .nullable(),
        })
        .nullable(),
    })
    .nullish(),
  errors: hostRows(z.object({ type: z.string().nullish() })).nullish(),
});

/** The REST API sorts tags by their names, and a repository can have more tags than anybody reads. */
const TAGS_QUERY = `query ($owner: String!, $name: String!, $count: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    refs(refPrefix: "refs/tags/", first: $count, after: $after, orderBy: { field: TAG_COMMIT_DATE, direction: DESC }) {
      nodes { name target { oid ... on Tag { target { oid } } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

/** Pages of repositories that a search reads, because the search of the host finds all public repositories. */
const MAX_SEARCHED_PAGES = 10;
const MAX_STATUS_CHARACTERS = 140;
/** The host lists no more files of a comparison. */
const MAX_COMPARED_FILES = 300;

const toRepository = (row: z.infer<typeof repository>): HostRepository => ({
  identifier: row.full_name,
  defaultBranch: row.default_branch,
  httpUrl: row.html_url,
});

/** Returns the number of the last page of a list; null if the answer is the last page. */
const parseLastPage = (headers: Headers): number | null => {
  const [, number] = /[?&]page=(\d{1,9})[^>]*>;\s*rel="last"/.exec(headers.get('link') ?? '') ?? [];
  return number === undefined ? null : Number(number);
};

/** Returns a GitHub or a GitHub Enterprise Server: both have the same API. */
export const createGithubHost = (
  fetches: HostFetches,
  apiUrl: string,
  token: string,
  deadline: AbortSignal | null = null,
): GitHost => {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  };
  const requests = new HostRequests(fetches, apiUrl, headers, deadline);
  return {
    getUser: async () => ({ name: (await requests.read('/user', user)).login }),
    listRepositories: ({ search = '', number, size }) =>
      search === '' ? listRepositories(requests, number, size) : searchRepositories(requests, search, number, size),
    findRepository: async (identifier) => {
      const path = toRepositoryPath(identifier);
      const row = path === null ? null : await requests.readOrNull(path, repository);
      return row && toRepository(row);
    },
    listFolders: async (identifier, name) => {
      const path = toRepositoryPath(identifier);
      const head = path === null ? null : await findHead(requests, path, name);
      return head === null ? null : readFolders(requests, `${path}/git/trees/${head}`);
    },
    findHead: (identifier, name) => findHead(requests, requireRepositoryPath(identifier), name),
    listTags: (identifier) => readTags(requests, apiUrl, requireRepositoryPath(identifier)),
    ...openCommits(requests),
    ...openPullRequests(requests),
  };
};

/** Returns the methods for commits and their contents. */
const openCommits = (requests: HostRequests): CommitMethods => ({
  getCommit: (identifier, id) =>
    readCommit(requests, `${requireRepositoryPath(identifier)}/git/commits/${encodeURIComponent(id)}`),
  listChangedFiles: (identifier, before, after) =>
    readChangedFiles(requests, `${requireRepositoryPath(identifier)}/compare/${before}...${after}`),
  listCommits: (identifier, id, count) =>
    readCommits(
      requests,
      `${requireRepositoryPath(identifier)}/commits?sha=${encodeURIComponent(id)}&per_page=${count}`,
    ),
  listCommitFiles: (identifier, { parent, sha: id }) =>
    readChangedFiles(requests, `${requireRepositoryPath(identifier)}/compare/${parent}...${id}`),
  downloadArchive: (identifier, id) =>
    requests.download(`${requireRepositoryPath(identifier)}/tarball/${encodeURIComponent(id)}`),
  findSubmodule: (identifier, id, path) =>
    findSubmoduleInContents(requests, requireRepositoryPath(identifier), id, path),
});

/** Returns the methods for pull requests, comments and webhooks. */
const openPullRequests = (requests: HostRequests): PullRequestMethods => ({
  ...openIssueComments(requests),
  listWebhooks: (identifier) => listGithubWebhooks(requests, requireRepositoryPath(identifier)),
  createWebhook: (identifier, webhook) => createGithubWebhook(requests, requireRepositoryPath(identifier), webhook),
  deleteWebhook: (identifier, id) =>
    requests.delete(`${requireRepositoryPath(identifier)}/hooks/${encodeURIComponent(id)}`),
  listPullRequests: (identifier) => listGithubPullRequests(requests, requireRepositoryPath(identifier)),
  listPullRequestFiles: (identifier, number) =>
    listGithubPullRequestFiles(requests, requireRepositoryPath(identifier), number),
  setStatus: async (identifier, id, { url: target_url, description, ...status }) => {
    const path = `${requireRepositoryPath(identifier)}/statuses/${encodeURIComponent(id)}`;
    const body = { ...status, description: description.slice(0, MAX_STATUS_CHARACTERS), target_url };
    await requests.write('POST', path, body, z.unknown());
  },
});

const readRepositories = (requests: HostRequests, number: number, size: number) =>
  requests.readWithHeaders(`/user/repos?sort=full_name&per_page=${size}&page=${number}`, repositories);

const listRepositories = async (requests: HostRequests, number: number, size: number) => {
  const { body, headers } = await readRepositories(requests, number, size);
  const isLast = parseLastPage(headers) === null;
  // The host does not count them. With one repository a page, the last page is their number.
  const total = isLast
    ? (number - 1) * size + body.length
    : (parseLastPage((await readRepositories(requests, 1, 1)).headers) ?? body.length);
  return { repositories: body.map(toRepository), total };
};

const searchRepositories = async (requests: HostRequests, search: string, number: number, size: number) => {
  const matching: HostRepository[] = [];
  const text = search.toLowerCase();
  for (let page = 1; page <= MAX_SEARCHED_PAGES; page += 1) {
    const { body, headers } = await readRepositories(requests, page, PAGE_SIZE);
    matching.push(...body.map(toRepository).filter(({ identifier }) => identifier.toLowerCase().includes(text)));
    if (parseLastPage(headers) === null) break;
  }
  return { repositories: matching.slice((number - 1) * size, number * size), total: matching.length };
};

const findHead = async (requests: HostRequests, path: string, name: string): Promise<string | null> =>
  isBranchName(name)
    ? ((await requests.readOrNull(`${path}/branches/${encodeURIComponent(name)}`, branch))?.commit.sha ?? null)
    : null;

/** The host lists 100,000 entries at once, and cuts longer lists. */
const readFolders = async (requests: HostRequests, path: string): Promise<readonly string[]> => {
  const { tree: entries } = await requests.readLarge(`${path}?recursive=1`, tree);
  const folders = entries.flatMap((entry) => (entry.type === 'tree' && entry.path !== null ? [entry.path] : []));
  return folders.slice(0, MAX_FOLDERS);
};

type TagsPage = NonNullable<NonNullable<z.infer<typeof tagsAnswer>['data']>['repository']>['refs'];

const readTagsPage = async (requests: HostRequests, url: URL, variables: object): Promise<TagsPage> => {
  const query = { query: TAGS_QUERY, variables };
  const { body, headers } = await requests.writeWithHeaders('POST', url, query, tagsAnswer);
  const { data, errors } = body;
  // This API answers with the status 200.
  if (errors?.some(({ type }) => type === 'RATE_LIMITED')) throw requests.createLimitError(headers);
  if (errors?.some(({ type }) => type === 'FORBIDDEN'))
    throw new GitHostError('forbidden', `The token does not suffice for this request to ${url.host}`);
  if (!data?.repository) throw new GitHostError('not-found', `${url.host} has no such repository`);
  return data.repository.refs;
};

const readTags = async (requests: HostRequests, apiUrl: string, repositoryPath: string) => {
  const [, , owner, name] = repositoryPath.split('/');
  // An Enterprise Server has both APIs below `/api`.
  const url = new URL(`${apiUrl.replace(/\/v3$/, '')}/graphql`);
  const listed: { name: string; sha: string }[] = [];
  for (let page = 1, after: string | null = null; page <= MAX_TAGS / PAGE_SIZE; page += 1) {
    const refs: TagsPage = await readTagsPage(requests, url, { owner, name, count: PAGE_SIZE, after });
    for (const node of refs?.nodes ?? [])
      if (node !== null) listed.push({ name: node.name, sha: node.target.target?.oid ?? node.target.oid });
    if (!refs?.pageInfo.hasNextPage) break;
    after = refs.pageInfo.endCursor;
  }
  return listed;
};

const readCommit = async (requests: HostRequests, path: string): Promise<HostCommit> => {
  const row = await requests.read(path, commit);
  return {
    message: shortenMessage(row.message),
    url: row.html_url,
    cloneUrl: row.html_url.replace(/\/commit\/[^/]*$/, '.git'),
  };
};

const readCommits = async (requests: HostRequests, path: string): Promise<readonly HostBranchCommit[]> => {
  const rows = await requests.read(path, commits);
  return rows.map(toBranchCommit);
};

/** Only the first page has the files, at most 300. A page of commits is of no use here, so it has one. */
const readChangedFiles = async (requests: HostRequests, path: string): Promise<readonly string[] | null> => {
  const row = await nullIfUnknown(requests.readLarge(`${path}?per_page=1`, comparison));
  // A forced push drops commits. The host does not list the files that the branch loses with them.
  if (row === null || !['ahead', 'identical'].includes(row.status)) return null;
  const files = row.files ?? [];
  if (files.length >= MAX_COMPARED_FILES) return null;
  return [...new Set(files.flatMap((file) => [file.filename, file.previous_filename ?? file.filename]))];
};
