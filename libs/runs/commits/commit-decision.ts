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
};

/** The workspace when the decision is made. */
export type CommitTarget = CommitTriggers & {
  readonly isLocked: boolean;
  readonly hasRuns: boolean;
  /** Whether a configuration version of the workspace has this commit already. */
  readonly usesCommit: boolean;
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
const concernsFiles = (target: CommitTriggers, { ref, files }: PushedCommit): boolean => {
  if (!target.fileTriggersEnabled || files === null || ref.type === 'tag') return true;
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

/** Decides what a push does in a workspace. The first rule that stops it is the reason. */
export const decideCommit = (target: CommitTarget, commit: PushedCommit): CommitDecision => {
  if (commit.sha === null) return skip('The branch or tag was deleted');
  const stop = decideRef(target, commit);
  if (stop) return stop;
  // The first commit is the configuration that the workspace begins with, whatever it changes.
  if (!target.isFirst && !concernsFiles(target, commit)) return skip('No changed file matches the triggers');
  if (target.usesCommit) return skip('Processing skipped for duplicate commit SHA');
  if (!target.queueAllRuns && target.isFirst)
    return fetchOnly('The first commit starts no run, because queue-all-runs is false');
  if (!target.queueAllRuns && !target.hasRuns) {
    return fetchOnly('Commits start no run until somebody has started one, because queue-all-runs is false');
  }
  if (target.isLocked) return fetchOnly('The workspace is locked');
  return { fetches: true, runs: true };
};
