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
  /** Returns the files of a commit as a compressed tar archive, in one folder. */
  downloadArchive(identifier: string, sha: string): Promise<Buffer>;
};

export const MAX_FOLDERS = 5_000;
export const MAX_TAGS = 200;

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
  /** The answer is none of this kind of host. */
  | 'unexpected';

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
