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
export const MAX_FILES = 5_000;
const MAX_COMPARISONS = 50_000_000;

const countCharacters = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

type CompiledTriggers = {
  /** Returns about how many characters `concerns` compares: the product of both lengths. */
  countComparisons(files: PushedCommit['files']): number;
  /** Returns whether the changed files concern the workspace. If they are unknown, or too many, they may. */
  concerns(files: PushedCommit['files']): boolean;
};

/** Returns the file triggers of a workspace, compiled once for any number of commits. */
export const compileTriggers = (triggers: CommitTriggers): CompiledTriggers => {
  const { fileTriggersEnabled, triggerPatterns, triggerPrefixes, workingDirectory } = triggers;
  const folders = [...(workingDirectory ? [workingDirectory] : []), ...triggerPrefixes];
  const hasPatterns = triggerPatterns.length > 0;
  const matchers = hasPatterns
    ? triggerPatterns.map(compilePattern)
    : folders.map((folder) => (path: string) => isBelow(folder, path));
  const countComparisons = (files: PushedCommit['files']): number => {
    if (!fileTriggersEnabled || files === null || files.length > MAX_FILES) return 0;
    // The comparison with a folder takes about the time of its length, whatever the length of the path.
    return hasPatterns
      ? countCharacters(files) * countCharacters(triggerPatterns)
      : files.length * countCharacters(folders);
  };
  const concerns = (files: PushedCommit['files']): boolean => {
    if (!fileTriggersEnabled || files === null || files.length > MAX_FILES) return true;
    // Without patterns and folders, the workspace is about the whole repository.
    if (matchers.length === 0) return files.length > 0;
    return countComparisons(files) > MAX_COMPARISONS || files.some((path) => matchers.some((matches) => matches(path)));
  };
  return { countComparisons, concerns };
};

const NO_FILE = 'No changed file matches the triggers';
const DUPLICATE = 'Processing skipped for duplicate commit SHA';
const NO_RUN_YET = 'Commits start no run until somebody has started one, because queue-all-runs is false';

/** Whether only the changed files are why the commit starts no run. */
export const isUntriggered = (decision: CommitDecision): boolean => !decision.runs && decision.reason === NO_FILE;

/** Decides what a commit that concerns a workspace does in it. */
const decideRun = (target: CommitTarget): CommitDecision => {
  if (target.usesCommit) return skip(DUPLICATE);
  if (!target.queueAllRuns && target.isFirst)
    return fetchOnly('The first commit starts no run, because queue-all-runs is false');
  if (!target.queueAllRuns && !target.hasRuns) {
    return fetchOnly(NO_RUN_YET);
  }
  if (target.isLocked) return fetchOnly('The workspace is locked');
  return { fetches: true, runs: true };
};

/**
 * Decides what a push does in a workspace. The first rule that stops it is the reason. `triggers`: those of the workspace, which callers
 * compile once for many commits.
 */
export const decideCommit = (
  target: CommitTarget,
  commit: PushedCommit,
  triggers: Pick<CompiledTriggers, 'concerns'> = compileTriggers(target),
): CommitDecision => {
  if (commit.sha === null) return skip('The branch or tag was deleted');
  const stop = decideRef(target, commit);
  if (stop) return stop;
  const files = commit.ref.type === 'tag' ? null : commit.files;
  // The first commit is the configuration that the workspace begins with, whatever it changes.
  return target.isFirst || triggers.concerns(files) ? decideRun(target) : skip(NO_FILE);
};

/** Decides what a new commit of a pull request does in a workspace. A run for it only plans, so that it needs no lock. */
export const decidePullRequest = (target: PullRequestTarget, commit: ProposedCommit): CommitDecision => {
  if (!target.speculativeEnabled) return skip('Pull requests start no plans in this workspace');
  const branch = target.branch || commit.defaultBranch;
  if (commit.baseBranch !== branch) return skip(`The workspace follows the branch ${branch}`);
  // Everybody can write what a fork runs, and a plan can read the secrets of its workspace.
  if (commit.isFork) return skip('Pull requests from other repositories start no plans');
  if (!compileTriggers(target).concerns(commit.files)) return skip(NO_FILE);
  if (target.usesCommit) return skip(DUPLICATE);
  if (!target.queueAllRuns && !target.hasRuns) return skip(NO_RUN_YET);
  return { fetches: true, runs: true };
};
