import { LRUCache } from 'lru-cache';
import { tooManyRequests, unprocessable, type Refusal } from '#platform/kernel';
import type { Connections } from '#vcs/connections';
import type { GitHost, HostBranchCommit } from '#vcs/git-hosts';
import { decideCommit, type CommitTarget } from './commit-decision.js';

/** What a preview is about: the triggers of a workspace, and the repository that they name. */
export type PreviewSubject = {
  readonly client: Parameters<Connections['use']>[0];
  readonly identifier: string;
  readonly target: CommitTarget;
};

type PreviewedCommit = {
  readonly sha: string;
  /** The tag that names the commit, if the workspace follows tags. */
  readonly tag: string | null;
  /** The message and the address are null for tags: they would cost a request for each of them. */
  readonly message: string | null;
  readonly url: string | null;
  /** Null if nobody has read the files, or the host cannot list all of them. */
  readonly changedFiles: number | null;
  /** Why a push of the commit starts no run; null if it starts one. */
  readonly reason: string | null;
};

export type CommitPreview = {
  /** Null if the workspace follows tags. */
  readonly branch: string | null;
  /** The newest commit is the first one. */
  readonly commits: readonly PreviewedCommit[];
};

export const PREVIEWED_COMMITS = 20;
/** Requests of a preview that its Git host works on at once. */
const READ_AT_ONCE = 5;
/** Previews of a connection that run or wait at once, in one process. */
const PREVIEWS_AT_ONCE = 4;
const RETRY_AFTER_S = 5;
/** Characters of all paths in memory, and of those of one commit. */
const MOST_CHARACTERS = 8 * 1_048_576;
const MOST_OF_COMMIT = 1_048_576;
/** Estimated size of an entry besides its paths. */
const ENTRY_CHARACTERS = 200;

const countCharacters = (files: readonly string[]): number =>
  files.reduce((sum, { length }) => sum + length, ENTRY_CHARACTERS);

const refuseMissing = (subject: string, attribute: 'identifier' | 'branch'): Refusal =>
  unprocessable(
    `${subject} does not exist or has no commit, or the account of the connection cannot read it`,
    `vcs-repo/${attribute}`,
  );

/** Previews which of the newest commits start runs, by the decision about pushes. */
export class CommitPreviews {
  /** Files that commits change. A commit never changes others, so that only the first preview of a commit costs a request. */
  private readonly files = new LRUCache<string, readonly string[]>({
    maxSize: MOST_CHARACTERS,
    maxEntrySize: MOST_OF_COMMIT,
    sizeCalculation: countCharacters,
  });
  private readonly running = new Map<string, number>();

  constructor(private readonly connections: Pick<Connections, 'use'>) {}

  /** Requests to the host: two or three for a branch, one for each commit whose files are needed and not in memory. */
  async preview(subject: PreviewSubject): Promise<CommitPreview> {
    const { id } = subject.client;
    const running = this.running.get(id) ?? 0;
    if (running >= PREVIEWS_AT_ONCE)
      throw tooManyRequests(
        `Too many previews of this connection at once, at most ${PREVIEWS_AT_ONCE}. Try again later`,
        RETRY_AFTER_S,
      );
    this.running.set(id, running + 1);
    try {
      const previewRefs = subject.target.tagsRegex ? previewTags : this.previewBranch.bind(this);
      return await this.connections.use(subject.client, (host) => previewRefs(host, subject));
    } finally {
      const left = (this.running.get(id) ?? 1) - 1;
      if (left === 0) this.running.delete(id);
      else this.running.set(id, left);
    }
  }

  private async previewBranch(host: GitHost, subject: PreviewSubject): Promise<CommitPreview> {
    const { identifier, target } = subject;
    const branch = target.branch || ((await host.findRepository(identifier))?.defaultBranch ?? '');
    if (branch === '') throw refuseMissing(`Repository ${JSON.stringify(identifier)}`, 'identifier');
    const head = await host.findHead(identifier, branch);
    if (head === null)
      throw refuseMissing(`Branch ${JSON.stringify(branch)} of ${JSON.stringify(identifier)}`, 'branch');
    const listed = (await host.listCommits(identifier, head, PREVIEWED_COMMITS)).slice(0, PREVIEWED_COMMITS);
    const commits: PreviewedCommit[] = [];
    for (let first = 0; first < listed.length; first += READ_AT_ONCE) {
      const some = listed.slice(first, first + READ_AT_ONCE);
      commits.push(...(await Promise.all(some.map((commit) => this.previewCommit(host, subject, branch, commit)))));
    }
    return { branch, commits };
  }

  private async previewCommit(
    host: GitHost,
    subject: PreviewSubject,
    branch: string,
    { sha, parent, message, url }: HostBranchCommit,
  ): Promise<PreviewedCommit> {
    const { target } = subject;
    const isRead = target.fileTriggersEnabled && parent !== null;
    const files = isRead ? await this.readFiles(host, subject, { parent, sha }) : null;
    const ref = { type: 'branch', name: branch } as const;
    const decision = decideCommit(target, { ref, defaultBranch: branch, sha, files });
    const reason = decision.runs ? null : decision.reason;
    return { sha, tag: null, message, url, changedFiles: files?.length ?? null, reason };
  }

  private async readFiles(
    host: GitHost,
    { client, identifier }: PreviewSubject,
    commit: { readonly parent: string; readonly sha: string },
  ): Promise<readonly string[] | null> {
    // Each connection reads with the rights of its own account.
    const key = `${client.id} ${identifier} ${commit.sha}`;
    const cachedFiles = this.files.get(key);
    if (cachedFiles) return cachedFiles;
    const files = await host.listCommitFiles(identifier, commit);
    // A host that could not list them now can list them later.
    if (files !== null) this.files.set(key, files);
    return files;
  }
}

const previewTags = async (host: GitHost, { identifier, target }: PreviewSubject): Promise<CommitPreview> => {
  const tags = (await host.listTags(identifier)).slice(0, PREVIEWED_COMMITS);
  const commits = tags.map(({ name, sha }) => {
    const ref = { type: 'tag', name } as const;
    const decision = decideCommit(target, { ref, defaultBranch: '', sha, files: null });
    const reason = decision.runs ? null : decision.reason;
    return { sha, tag: name, message: null, url: null, changedFiles: null, reason };
  });
  return { branch: null, commits };
};
