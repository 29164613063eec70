/** The account that a token of a Git host belongs to. */
type HostUser = { readonly name: string };

export type HostRepository = {
  /** Owner and name, as the host writes them: `acme/network`. */
  readonly identifier: string;
  readonly defaultBranch: string;
  /** Address of its page for people. */
  readonly httpUrl: string;
};

/** A tag, and the commit that it names. */
type HostTag = { readonly name: string; readonly sha: string };

export type HostCommit = {
  readonly message: string;
  /** Address of its page for people. */
  readonly url: string;
  /** Address from which Git clones the repository. */
  readonly cloneUrl: string;
};

/** A commit of a branch. */
export type HostBranchCommit = {
  readonly sha: string;
  /** SHA of the first parent; null for the first commit of a repository. */
  readonly parent: string | null;
  readonly message: string;
  /** Address of its page for people. */
  readonly url: string;
};

/** A webhook of a repository. */
export type HostWebhook = {
  readonly id: string;
  /** The address that it sends to. */
  readonly url: string;
  /** Whether it is active and sends everything that `createWebhook` requests. */
  readonly isComplete: boolean;
};

/** An open pull request. */
export type HostPullRequest = {
  readonly number: number;
  readonly title: string;
  /** Address of its page for people. */
  readonly url: string;
  /** The newest commit, and the branch that it is on. */
  readonly sha: string;
  readonly branch: string;
  /** The branch that it is to be merged into. */
  readonly baseBranch: string;
  /** Whether the commits are in another repository, or the host does not name it. */
  readonly isFork: boolean;
  /** The account that has opened it; null if the host does not name it. */
  readonly author: string | null;
};

/** The result of a check of a commit. A later status with the same context replaces it. */
export type HostStatus = {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  readonly context: string;
  readonly description: string;
  /** Address of a page for people. */
  readonly url: string;
};

/** What a webhook has sent. It only says that something may have changed. */
type HostDelivery = {
  /** The name of the event at the host. */
  readonly event: string;
  /** The repository, as the host names it now. */
  readonly identifier: string;
};

/** Header fields in lower case. */
type DeliveryHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The form of what a kind of Git host sends to webhooks. */
export type DeliveryFormat = {
  /** Returns the id of a delivery, which is the same if the host repeats it; null if it has none. */
  getId(headers: DeliveryHeaders): string | null;
  /** Returns whether the body was signed with the secret of the webhook. Takes the same time for every wrong signature. */
  isSigned(headers: DeliveryHeaders, body: Buffer, secret: string): boolean;
  /** Returns null for a body that the host does not send. Only for signed bodies. */
  parse(headers: DeliveryHeaders, body: Buffer): HostDelivery | null;
};

type RepositoryQuery = {
  /** Part of a name; undefined for all repositories. */
  readonly search: string | undefined;
  readonly number: number;
  readonly size: number;
};

type RepositoryPage = { readonly repositories: readonly HostRepository[]; readonly total: number };

/** A Git host with the token of one account. All methods throw `GitHostError`. */
export type GitHost = {
  getUser(): Promise<HostUser>;
  /** Returns a page of the repositories that the account can read. */
  listRepositories(query: RepositoryQuery): Promise<RepositoryPage>;
  /** Returns null if there is no such repository, or the account cannot read it. */
  findRepository(identifier: string): Promise<HostRepository | null>;
  /** Returns the paths of the folders of a branch, at most `MAX_FOLDERS`; null if there is no such branch. */
  listFolders(identifier: string, branch: string): Promise<readonly string[] | null>;
  /** Returns the SHA of the newest commit of a branch; null if there is no such branch. */
  findHead(identifier: string, branch: string): Promise<string | null>;
  /** Returns the tags of a repository, the newest first, at most `MAX_TAGS`. */
  listTags(identifier: string): Promise<readonly HostTag[]>;
  getCommit(identifier: string, sha: string): Promise<HostCommit>;
  /**
   * Returns the paths of the files that the commits after `before` up to `after` change; null if the host cannot list them, or
   * not all of them.
   */
  listChangedFiles(identifier: string, before: string, after: string): Promise<readonly string[] | null>;
  /** Returns a commit and those before it, the newest first, at most `count`, from one request. */
  listCommits(identifier: string, sha: string, count: number): Promise<readonly HostBranchCommit[]>;
  /**
   * Returns the files that a commit changes, from one request: those that `listChangedFiles` returns for a parent and its commit;
   * null like there.
   */
  listCommitFiles(
    identifier: string,
    commit: { readonly parent: string; readonly sha: string },
  ): Promise<readonly string[] | null>;
  /** Returns the files of a commit as a compressed tar archive, in one folder. */
  downloadArchive(identifier: string, sha: string): Promise<Buffer>;
  /** Returns the SHA of the commit that a commit has as submodule at the path; null if there is no submodule. */
  findSubmodule(identifier: string, sha: string, path: string): Promise<string | null>;
  /** Returns the webhooks of a repository that the account may see. */
  listWebhooks(identifier: string): Promise<readonly HostWebhook[]>;
  /** Creates a webhook that sends pushes, tags and changes of pull requests, signed with the secret. Returns its id. */
  createWebhook(identifier: string, webhook: { readonly url: string; readonly secret: string }): Promise<string>;
  /** Does nothing if the webhook or the repository does not exist any more. */
  deleteWebhook(identifier: string, id: string): Promise<void>;
  /** Returns the open pull requests of a repository, those that changed last first, at most `MAX_PULL_REQUESTS`. */
  listPullRequests(identifier: string): Promise<readonly HostPullRequest[]>;
  /** Returns the paths of the files that a pull request changes; null if the host cannot list them, or not all of them. */
  listPullRequestFiles(identifier: string, number: number): Promise<readonly string[] | null>;
  setStatus(identifier: string, sha: string, status: HostStatus): Promise<void>;
  /** Returns the id of the comment of this account that begins with the mark, on a pull request; null if there is none. */
  findComment(identifier: string, number: number, mark: string): Promise<string | null>;
  /** Returns the id of the comment. */
  createComment(identifier: string, number: number, body: string): Promise<string>;
  /** Throws `not-found` if the comment does not exist any more. */
  updateComment(identifier: string, number: number, id: string, body: string): Promise<void>;
};

export type CommentMethods = Pick<GitHost, 'findComment' | 'createComment' | 'updateComment'>;

/** The methods for pull requests, comments and webhooks. */
export type PullRequestMethods = Pick<
  GitHost,
  'listWebhooks' | 'createWebhook' | 'deleteWebhook' | 'listPullRequests' | 'listPullRequestFiles' | 'setStatus'
> &
  CommentMethods;

/** The methods for commits and their contents. */
export type CommitMethods = Pick<
  GitHost,
  'getCommit' | 'listChangedFiles' | 'listCommits' | 'listCommitFiles' | 'downloadArchive' | 'findSubmodule'
>;

export const MAX_FOLDERS = 5_000;
export const MAX_TAGS = 200;
export const MAX_PULL_REQUESTS = 200;

export type GitHostFailure =
  /** The host refuses the token. */
  | 'unauthorized'
  /** The token is not sufficient. */
  | 'forbidden'
  | 'not-found'
  /** Too many requests with this token. */
  | 'rate-limited'
  /** The host cannot be reached, or answers with an error of its own. */
  | 'unavailable'
  /** The deadline of all requests has passed. */
  | 'out-of-time'
  /** The answer is none of this kind of host. */
  | 'unexpected';

/** Failures that more rights of the account may correct. Hosts answer with 404 if the account may not read a repository. */
export const MISSING_RIGHTS: readonly GitHostFailure[] = ['forbidden', 'not-found'];

/** A request to a Git host failed. The message names the host, and contains nothing that the host has sent. */
export class GitHostError extends Error {
  constructor(
    readonly failure: GitHostFailure,
    message: string,
    /** Seconds until the next request may succeed, if the host has said so. */
    readonly retryAfter: number | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'GitHostError';
  }
}
