import type { ChangedResource } from '#runs/runs';
import { describeRun, isRunPlanned, type RunOfCommit } from './commit-status.js';

/** The plan of a workspace for a pull request. */
export type CommentedPlan = {
  readonly run: RunOfCommit;
  /** Address of the run for people. */
  readonly url: string;
  readonly counts: { readonly additions: number; readonly changes: number; readonly destructions: number } | null;
  /** Null if the plan is not here, or too large, or was not read. */
  readonly resources: readonly ChangedResource[] | null;
};

/** Workspaces that a comment names. */
export const MOST_WORKSPACES = 100;
/** Workspaces whose changes a comment lists. */
export const MOST_LISTS = 20;
const MOST_CHANGES = 200;
const MOST_ADDRESS_CHARACTERS = 300;
/** GitHub accepts 65,536 characters. */
const MOST_CHARACTERS = 60_000;
/** The rest is left for the lists. */
const MOST_CHARACTERS_OF_TABLE = 45_000;
const MOST_NOTE_CHARACTERS = 200;

const SYMBOLS: Readonly<Record<ChangedResource['kind'], string>> = {
  create: '+',
  update: '~',
  destroy: '-',
  replace: '-/+',
  forget: '.',
};

/** Returns a text that stays in its line and in its code, and contains no HTML. */
const quote = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029<>]/gu, ' ')
    .replaceAll('`', "'");

const quoteAddress = (address: string): string =>
  quote(address.length > MOST_ADDRESS_CHARACTERS ? `${address.slice(0, MOST_ADDRESS_CHARACTERS)}…` : address);

/** Returns a name as code, in which no mention, link or column of a table begins. */
const quoteName = (name: string): string => `\`${quote(name).replaceAll('|', ' ')}\``;

const count = (run: RunOfCommit, value: number | undefined): string =>
  isRunPlanned(run) && value !== undefined ? String(value) : '–';

const renderRow = ({ run, url, counts }: CommentedPlan): string => {
  const cells = [counts?.additions, counts?.changes, counts?.destructions].map((value) => count(run, value));
  return `| [${quoteName(run.workspaceName)}](${url}) | ${describeRun(run)} | ${cells.join(' | ')} |\n`;
};

/** Returns how many of the texts, from the first on, have no more than so many characters together. */
const countFitting = (texts: readonly string[], most: number): number => {
  let characters = 0;
  const end = texts.findIndex((text) => {
    characters += text.length;
    return characters > most;
  });
  return end < 0 ? texts.length : end;
};

const wrapList = ({ run }: CommentedPlan, content: string): string =>
  `\n<details><summary>Changes in <code>${quote(run.workspaceName)}</code></summary>\n\n${content}\n\n</details>\n`;

/** Renders the changes of a plan in at most so many characters. Returns null if nothing fits. */
const renderList = (plan: CommentedPlan, resources: readonly ChangedResource[], most: number): string | null => {
  const lines = resources
    .slice(0, MOST_CHANGES)
    .map(({ kind, address }) => `${SYMBOLS[kind].padStart(3)} ${quoteAddress(address)}\n`);
  const render = (listed: number): string => {
    const left = resources.length - listed;
    const more = left > 0 ? `\n${left} more are not listed here: [see the run](${plan.url}).` : '';
    return wrapList(plan, `\`\`\`text\n${lines.slice(0, listed).join('')}\`\`\`${more}`);
  };
  // The frame of a list is longest if the list lacks all resources.
  const listed = countFitting(lines, most - render(0).length);
  return listed > 0 && render(listed).length <= most ? render(listed) : null;
};

/** Renders the lists in at most so many characters, of which each plan has the same part at least. */
const renderLists = (plans: readonly CommentedPlan[], most: number): { text: string; unlisted: number } => {
  let text = '';
  let unlisted = 0;
  for (const [index, plan] of plans.entries()) {
    const part = Math.floor((most - text.length) / (plans.length - index));
    const list = plan.resources && renderList(plan, plan.resources, part);
    text += list ?? '';
    if (!list) unlisted += 1;
  }
  return { text, unlisted };
};

/**
 * Renders the comment on a pull request, in Markdown. It contains the addresses of resources, with their keys of `for_each`, and
 * none of their attributes. `mark`: a text with which the comment begins, and by which it is found again.
 */
export const renderComment = (mark: string, sha: string, plans: readonly CommentedPlan[]): string => {
  const rows = plans.slice(0, MOST_WORKSPACES).map(renderRow);
  const listedRows = rows.slice(0, countFitting(rows, MOST_CHARACTERS_OF_TABLE));
  const head = [
    mark,
    `**Cadastre** plans the commit ${sha.slice(0, 12)}:`,
    '',
    '| Workspace | Plan | Add | Change | Destroy |',
    '| --- | --- | --- | --- | --- |',
    listedRows.join(''),
  ].join('\n');
  const more = plans.length > listedRows.length ? '\nThere are more workspaces, which are not listed here.\n' : '';
  const planned = plans
    .slice(0, listedRows.length)
    .filter(({ run, resources }) => isRunPlanned(run) && resources?.length !== 0);
  const candidates = planned.slice(0, MOST_LISTS);
  const lists = renderLists(candidates, MOST_CHARACTERS - head.length - more.length - MOST_NOTE_CHARACTERS);
  const unlisted = planned.length - candidates.length + lists.unlisted;
  const note =
    unlisted > 0 ? `\nChanges of ${unlisted} of these workspaces are not listed here: see their runs.\n` : '';
  return [head, more, lists.text, note].join('');
};
