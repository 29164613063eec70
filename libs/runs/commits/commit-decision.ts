import { RE2JS } from 're2js';
import { compilePattern, isBelow } from './path-patterns.js';

/** The settings of a workspace that decide about a commit. */
export type CommitTriggers = {
  /** Empty: the default branch of the repository. */
  readonly branch: string;
  readonly tagsRegex: string | null;
  readonly fileTriggersEnabled: boolean;
  readonly triggerPrefixes: readonly string[];
  readonly triggerPatterns: readonly string[];
  readonly workingDirectory: string | null;
  readonly queueAllRuns: boolean;
  readonly speculativeEnabled: boolean;
};

/** The workspace when the decision about a pull request is made. */
type PullRequestTarget = CommitTriggers & {
  readonly hasRuns: boolean;
  /** Whether a configuration version of the workspace has this commit already. */
  readonly usesCommit: boolean;
};

/** The workspace when the decision is made. */
export type CommitTarget = PullRequestTarget & {
  readonly isLocked: boolean;
  /** Whether the server follows the repository for the workspace since this commit. */
  readonly isFirst: boolean;
};

export type PushedCommit = {
  readonly ref: { readonly type: 'branch' | 'tag'; readonly name: string };
  readonly defaultBranch: string;
  /** The SHA; null if the branch or tag was deleted. */
  readonly sha: string | null;
  /** Paths of the changed files; null if the host cannot list them, or not all of them. */
  readonly files: readonly string[] | null;
};

/** The newest commit of an open pull request. */
export type ProposedCommit = {
  /** The branch that the commit is to be merged into. */
  readonly baseBranch: string;
  readonly defaultBranch: string;
  readonly isFork: boolean;
  /** Like those of `PushedCommit`. */
  readonly files: readonly string[] | null;
};

/** Whether the commit becomes a configuration version, whether it starts a run, and why not. */
type CommitDecision =
  | { readonly fetches: true; readonly runs: true }
  | { readonly fetches: boolean; readonly runs: false; readonly reason: string };

const skip = (reason: string): CommitDecision => ({ fetches: false, runs: false, reason });
const fetchOnly = (reason: string): CommitDecision => ({ fetches: true, runs: false, reason });

/** Texts longer than this are no tags that a person writes. Git allows any length. */
const MAX_TAG_CHARACTERS = 1_000;

/** Returns the compiled expression; null if it is invalid: older workspaces can have one that was not checked when it was stored. */
const compileExpression = (expression: string): RE2JS | null => {
  try {
    return RE2JS.compile(expression);
  } catch {
    return null;
  }
};

/** The expression that was compiled last: callers match all tags of a repository with one expression after the other. */
let lastCompiled: { readonly expression: string; readonly compiled: RE2JS | null } | null = null;

/** Returns whether the tag contains a match of the expression. The engine takes linear time for every expression. */
export const matchesTag = (expression: string, tag: string): boolean => {
  if (tag.length > MAX_TAG_CHARACTERS) return false;
  if (lastCompiled?.expression !== expression) lastCompiled = { expression, compiled: compileExpression(expression) };
  return lastCompiled.compiled?.matcher(tag).find() ?? false;
};

const decideRef = (target: CommitTriggers, { ref, defaultBranch }: PushedCommit): CommitDecision | null => {
  if (target.tagsRegex) {
    if (ref.type === 'branch') return skip('Only tags start runs in this workspace');
    return matchesTag(target.tagsRegex, ref.name) ? null : skip('The tag does not match the tags regex');
  }
  if (ref.type === 'tag') return skip('Tags start no runs in this workspace');
  const branch = target.branch || defaultBranch;
  return ref.name === branch ? null : skip(`The workspace follows the branch ${branch}`);
};

/** Lists of more files, or with more characters to compare, are too much work while other requests wait. */
const MAX_FILES = 5_000;
const MAX_COMPARISONS = 50_000_000;

const countCharacters = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Returns whether the comparison of all files with all patterns takes too long. Its time is the product of both lengths. */
const isTooMuch = (files: readonly string[], patterns: readonly string[]): boolean =>
  files.length > MAX_FILES || countCharacters(files) * countCharacters(patterns) > MAX_COMPARISONS;

/** Returns whether the changed files concern the workspace. If they are unknown, or too many, they may. */
const concernsFiles = (target: CommitTriggers, files: PushedCommit['files']): boolean => {
  if (!target.fileTriggersEnabled || files === null) return true;
  const { triggerPatterns, triggerPrefixes, workingDirectory } = target;
  if (isTooMuch(files, triggerPatterns)) return true;
  if (triggerPatterns.length > 0) {
    const patterns = triggerPatterns.map(compilePattern);
    return files.some((path) => patterns.some((matches) => matches(path)));
  }
  const folders = [...(workingDirectory ? [workingDirectory] : []), ...triggerPrefixes];
  // Without both, the workspace is about the whole repository.
  if (folders.length === 0) return files.length > 0;
  return files.some((path) => folders.some((folder) => isBelow(folder, path)));
};

const NO_FILE = 'No changed file matches the triggers';
const DUPLICATE = 'Processing skipped for duplicate commit SHA';
const NO_RUN_YET = 'Commits start no run until somebody has started one, because queue-all-runs is false';

/** Whether only the changed files are why the commit starts no run. */
export const isUntriggered = (decision: CommitDecision): boolean => !decision.runs && decision.reason === NO_FILE;

/** Decides what a push does in a workspace. The first rule that stops it is the reason. */
export const decideCommit = (target: CommitTarget, commit: PushedCommit): CommitDecision => {
  if (commit.sha === null) return skip('The branch or tag was deleted');
  const stop = decideRef(target, commit);
  if (stop) return stop;
  // The first commit is the configuration that the workspace begins with, whatever it changes.
  if (!target.isFirst && !concernsFiles(target, commit.ref.type === 'tag' ? null : commit.files)) return skip(NO_FILE);
  if (target.usesCommit) return skip(DUPLICATE);
  if (!target.queueAllRuns && target.isFirst)
    return fetchOnly('The first commit starts no run, because queue-all-runs is false');
  if (!target.queueAllRuns && !target.hasRuns) {
    return fetchOnly(NO_RUN_YET);
  }
  if (target.isLocked) return fetchOnly('The workspace is locked');
  return { fetches: true, runs: true };
};

/** Decides what a new commit of a pull request does in a workspace. A run for it only plans, so that it needs no lock. */
export const decidePullRequest = (target: PullRequestTarget, commit: ProposedCommit): CommitDecision => {
  if (!target.speculativeEnabled) return skip('Pull requests start no plans in this workspace');
  const branch = target.branch || commit.defaultBranch;
  if (commit.baseBranch !== branch) return skip(`The workspace follows the branch ${branch}`);
  // Everybody can write what a fork runs, and a plan can read the secrets of its workspace.
  if (commit.isFork) return skip('Pull requests from other repositories start no plans');
  if (!concernsFiles(target, commit.files)) return skip(NO_FILE);
  if (target.usesCommit) return skip(DUPLICATE);
  if (!target.queueAllRuns && !target.hasRuns) return skip(NO_RUN_YET);
  return { fetches: true, runs: true };
};
