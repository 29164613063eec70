import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { tooManyRequests, unprocessable, type Refusal } from '#platform/kernel';
import type { Connections } from '#vcs/connections';
import type { GitHost, HostBranchCommit } from '#vcs/git-hosts';
import { compileTriggers, decideCommit, MAX_FILES, type CommitTarget } from './commit-decision.js';

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
  /** Whether a push of the commit starts a run; null if a preview cannot compare its files. */
  readonly startsRun: boolean | null;
  /** Why it starts none, or is not compared; null if it starts one. */
  readonly reason: string | null;
};

export type CommitPreview = {
  /** Null if the workspace follows tags. */
  readonly branch: string | null;
  /** The newest commit is the first one. */
  readonly commits: readonly PreviewedCommit[];
};

/** `files`: those that the commit changes; null like `changedFiles`. */
type CommitWithFiles = HostBranchCommit & { readonly files: readonly string[] | null };

export const PREVIEWED_COMMITS = 20;
/** Requests of a preview that its Git host works on at once. */
const READ_AT_ONCE = 5;
/** Previews of a connection, of an organization and of all that run or wait at once, in one process. */
const PREVIEWS_OF_CONNECTION = 4;
const PREVIEWS_OF_ORGANIZATION = 8;
const PREVIEWS_AT_ONCE = 32;
const RETRY_AFTER_S = 5;
/** Comparisons of characters in all commits of a preview: some hundredths of a second. */
const MAX_COMPARISONS = 3_000_000;
const TOO_MUCH = 'The files and trigger patterns are too many to compare in a preview';
/** Characters of all paths in memory, and of those of one commit. */
const MOST_CHARACTERS = 8 * 1_048_576;
const MOST_OF_COMMIT = 1_048_576;
/** Estimated size of an entry, and of a path, besides the characters. */
const ENTRY_CHARACTERS = 200;
const PATH_CHARACTERS = 40;

const countCharacters = (files: readonly string[]): number =>
  files.reduce((sum, { length }) => sum + length + PATH_CHARACTERS, ENTRY_CHARACTERS);

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
    const { id, organization } = subject.client;
    const limits = [
      { key: id, most: PREVIEWS_OF_CONNECTION, scope: 'of this connection' },
      { key: organization, most: PREVIEWS_OF_ORGANIZATION, scope: 'of this organization' },
      { key: '', most: PREVIEWS_AT_ONCE, scope: 'in this process' },
    ];
    const exceeded = limits.find(({ key, most }) => (this.running.get(key) ?? 0) >= most);
    if (exceeded)
      throw tooManyRequests(
        `Too many previews ${exceeded.scope} at once, at most ${exceeded.most}. Try again later`,
        RETRY_AFTER_S,
      );
    for (const { key } of limits) this.count(key, 1);
    try {
      const previewRefs = subject.target.tagsRegex ? previewTags : this.previewBranch.bind(this);
      return await this.connections.use(subject.client, (host) => previewRefs(host, subject));
    } finally {
      for (const { key } of limits) this.count(key, -1);
    }
  }

  private count(key: string, change: 1 | -1): void {
    const running = (this.running.get(key) ?? 0) + change;
    if (running === 0) this.running.delete(key);
    else this.running.set(key, running);
  }

  private async previewBranch(host: GitHost, subject: PreviewSubject): Promise<CommitPreview> {
    const { identifier, target } = subject;
    const branch = target.branch || ((await host.findRepository(identifier))?.defaultBranch ?? '');
    if (branch === '') throw refuseMissing(`Repository ${JSON.stringify(identifier)}`, 'identifier');
    const head = await host.findHead(identifier, branch);
    if (head === null)
      throw refuseMissing(`Branch ${JSON.stringify(branch)} of ${JSON.stringify(identifier)}`, 'branch');
    const listed = (await host.listCommits(identifier, head, PREVIEWED_COMMITS)).slice(0, PREVIEWED_COMMITS);
    const commits: CommitWithFiles[] = [];
    for (let first = 0; first < listed.length; first += READ_AT_ONCE) {
      const some = listed.slice(first, first + READ_AT_ONCE);
      commits.push(...(await Promise.all(some.map((commit) => this.addFiles(host, subject, commit)))));
    }
    return { branch, commits: await decideCommits(target, branch, commits) };
  }

  private async addFiles(host: GitHost, subject: PreviewSubject, commit: HostBranchCommit): Promise<CommitWithFiles> {
    const { sha, parent } = commit;
    const isRead = subject.target.fileTriggersEnabled && parent !== null;
    return { ...commit, files: isRead ? await this.readFiles(host, subject, { parent, sha }) : null };
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
    if (files !== null && files.length <= MAX_FILES) this.files.set(key, files);
    return files;
  }
}

/** Decides commits of a branch one after another. Other requests continue between them. */
const decideCommits = async (
  target: CommitTarget,
  branch: string,
  commits: readonly CommitWithFiles[],
): Promise<readonly PreviewedCommit[]> => {
  const triggers = compileTriggers(target);
  const ref = { type: 'branch', name: branch } as const;
  let left = MAX_COMPARISONS;
  const previewed: PreviewedCommit[] = [];
  for (const { sha, message, url, files } of commits) {
    await setImmediate();
    const row = { sha, tag: null, message, url, changedFiles: files?.length ?? null };
    const comparisons = triggers.countComparisons(files);
    if (comparisons > left) {
      previewed.push({ ...row, startsRun: null, reason: TOO_MUCH });
      continue;
    }
    left -= comparisons;
    const decision = decideCommit(target, { ref, defaultBranch: branch, sha, files }, triggers);
    previewed.push({ ...row, startsRun: decision.runs, reason: decision.runs ? null : decision.reason });
  }
  return previewed;
};

const previewTags = async (host: GitHost, { identifier, target }: PreviewSubject): Promise<CommitPreview> => {
  const tags = (await host.listTags(identifier)).slice(0, PREVIEWED_COMMITS);
  const commits = tags.map(({ name, sha }) => {
    const ref = { type: 'tag', name } as const;
    const decision = decideCommit(target, { ref, defaultBranch: '', sha, files: null });
    const reason = decision.runs ? null : decision.reason;
    return { sha, tag: name, message: null, url: null, changedFiles: null, startsRun: decision.runs, reason };
  });
  return { branch: null, commits };
};
