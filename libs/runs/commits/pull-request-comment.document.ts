import type { ChangedResource } from '#runs/runs';
import { describeRun, isRunPlanned, type RunOfCommit } from './commit-status.js';

/** The plan of a workspace for a pull request. */
export type CommentedPlan = {
  readonly run: RunOfCommit;
  /** Address of the run for people. */
  readonly url: string;
  readonly counts: { readonly additions: number; readonly changes: number; readonly destructions: number } | null;
  /** Null if the plan is not here, or too large. */
  readonly resources: readonly ChangedResource[] | null;
};

/** Workspaces that a comment names. */
export const MOST_WORKSPACES = 100;
/** Workspaces whose changes a comment lists. */
export const MOST_LISTS = 20;
const MOST_CHANGES = 200;
const MOST_ADDRESS_CHARACTERS = 300;
/** GitHub accepts 65,536 characters. */
const MOST_CHARACTERS = 30_000;

const SYMBOLS: Readonly<Record<ChangedResource['kind'], string>> = {
  create: '+',
  update: '~',
  destroy: '-',
  replace: '-/+',
  forget: '.',
};

/** Returns an address that stays in its line and in its block of code. */
const quoteAddress = (address: string): string =>
  address
    .slice(0, MOST_ADDRESS_CHARACTERS)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .replaceAll('`', "'");

const count = (run: RunOfCommit, value: number | undefined): string =>
  isRunPlanned(run) && value !== undefined ? String(value) : '–';

const renderRow = ({ run, url, counts }: CommentedPlan): string => {
  const cells = [counts?.additions, counts?.changes, counts?.destructions].map((value) => count(run, value));
  return `| [${run.workspaceName}](${url}) | ${describeRun(run)} | ${cells.join(' | ')} |`;
};

const renderList = ({ run, url, resources }: CommentedPlan): string => {
  if (!isRunPlanned(run) || resources?.length === 0) return '';
  const lines = (resources ?? [])
    .slice(0, MOST_CHANGES)
    .map(({ kind, address }) => `${SYMBOLS[kind].padStart(3)} ${quoteAddress(address)}`);
  const more = (resources?.length ?? 0) - lines.length;
  const content = [
    ...(lines.length > 0
      ? ['```text', ...lines, '```']
      : [`The changes are not available here: [see the run](${url}).`]),
    ...(more > 0 ? [`and ${more} more: [see the run](${url}).`] : []),
  ];
  return ['', `<details><summary>Changes in ${run.workspaceName}</summary>`, '', ...content, '', '</details>', ''].join(
    '\n',
  );
};

/**
 * Renders the comment on a pull request, in Markdown. It names resources and contains no value of them. `mark`: a text by which the
 * comment is found again.
 */
export const renderComment = (mark: string, sha: string, plans: readonly CommentedPlan[]): string => {
  const listedPlans = plans.slice(0, MOST_WORKSPACES);
  const head = [
    mark,
    `**Cadastre** plans the commit ${sha.slice(0, 12)}:`,
    '',
    '| Workspace | Plan | Add | Change | Destroy |',
    '| --- | --- | --- | --- | --- |',
    ...listedPlans.map(renderRow),
    ...(plans.length > listedPlans.length ? ['', 'There are more workspaces.'] : []),
    '',
  ].join('\n');
  let text = head;
  for (const list of listedPlans.map(renderList)) if (text.length + list.length <= MOST_CHARACTERS) text += list;
  return text;
};
