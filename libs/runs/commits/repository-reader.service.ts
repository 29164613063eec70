import { GitHostError, MISSING_RIGHTS, type GitHost, type HostCommit, type HostPullRequest } from '#vcs/git-hosts';

/** A branch or a tag, and the commit that it names. */
export type RefHead = { readonly type: 'branch' | 'tag'; readonly name: string; readonly sha: string };

/**
 * Reads one repository for all workspaces that use it. Each answer of the host is read once, so that a push to a repository of
 * many workspaces costs as many requests as one workspace.
 */
export class RepositoryReader {
  /** Why the account may not read the pull requests; null if it may, or has not tried. */
  refusal: GitHostError | null = null;
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(
    private readonly host: GitHost,
    readonly identifier: string,
    /** When the reading has begun. A reading that began earlier knows less. */
    readonly startedAt: Date,
  ) {}

  /** Returns the name of the default branch; null if there is no such repository. */
  async getDefaultBranch(): Promise<string | null> {
    const repository = await this.once('repository', () => this.host.findRepository(this.identifier));
    return repository?.defaultBranch ?? null;
  }

  findHead(branch: string): Promise<string | null> {
    return this.once(`head ${branch}`, () => this.host.findHead(this.identifier, branch));
  }

  /** Returns the newest tags, the newest first. */
  listTags(): Promise<readonly RefHead[]> {
    return this.once('tags', async () =>
      (await this.host.listTags(this.identifier)).map((tag) => ({ type: 'tag' as const, ...tag })),
    );
  }

  getCommit(sha: string): Promise<HostCommit> {
    return this.once(`commit ${sha}`, () => this.host.getCommit(this.identifier, sha));
  }

  listChangedFiles(before: string, after: string): Promise<readonly string[] | null> {
    return this.once(`files ${before} ${after}`, () => this.host.listChangedFiles(this.identifier, before, after));
  }

  /** Returns the open pull requests, those that changed last first; null if the repository has none that the account may read. */
  listPullRequests(): Promise<readonly HostPullRequest[] | null> {
    return this.once('pull requests', () => this.readPullRequests());
  }

  /** Returns the open pull requests of a second reading. */
  listPullRequestsAgain(): Promise<readonly HostPullRequest[] | null> {
    return this.once('pull requests again', () => this.readPullRequests());
  }

  /** `sha`: the newest commit, with which the files change. */
  listPullRequestFiles(number: number, sha: string): Promise<readonly string[] | null> {
    return this.once(`files of ${number} ${sha}`, () => this.host.listPullRequestFiles(this.identifier, number));
  }

  private async readPullRequests(): Promise<readonly HostPullRequest[] | null> {
    try {
      return await this.host.listPullRequests(this.identifier);
    } catch (error) {
      if (error instanceof GitHostError && MISSING_RIGHTS.includes(error.failure)) {
        this.refusal = error;
        return null;
      }
      throw error;
    }
  }

  private once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const answer = this.answers.get(name) ?? read();
    this.answers.set(name, answer);
    return answer as Promise<T>;
  }
}
