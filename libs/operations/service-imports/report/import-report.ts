/**
 * What an import does with a resource. `created`: it is created, or would be in a dry run. `same`: it exists with the
 * same values. `differs`: it exists with other values, or without some. `kept`: something else has its name, and stays.
 * `waiting`: a value that cannot be read must be supplied. `withheld`: it would act by itself. `failed`: it was refused.
 */
const IMPORT_OUTCOMES = ['created', 'same', 'differs', 'kept', 'waiting', 'withheld', 'failed'] as const;
type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

type ImportNote = {
  readonly kind: string;
  readonly name: string;
  readonly outcome: ImportOutcome;
  readonly detail: string;
};

/** The report stays small for any organization. */
const MAX_NOTES = 20_000;
const MAX_DETAIL = 500;

/** Counts what an import does, and keeps what an operator must know about single resources. */
export class ImportReport {
  readonly counts = new Map<string, Map<ImportOutcome, number>>();
  readonly notes: ImportNote[] = [];
  /** Notes beyond the limit. */
  omitted = 0;

  add(kind: string, name: string, outcome: ImportOutcome, detail: string | null = null): void {
    const counts = this.counts.get(kind) ?? new Map<ImportOutcome, number>();
    this.counts.set(kind, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    if (detail === null) return;
    if (this.notes.length >= MAX_NOTES) this.omitted += 1;
    else this.notes.push({ kind, name: name.slice(0, MAX_DETAIL), outcome, detail: detail.slice(0, MAX_DETAIL) });
  }

  count(outcome: ImportOutcome): number {
    return [...this.counts.values()].reduce((sum, counts) => sum + (counts.get(outcome) ?? 0), 0);
  }
}

export type ImportSummary = {
  readonly from: string;
  readonly into: string;
  readonly mode: 'dry run' | 'apply' | 'verify' | 'finish' | 'undo';
  readonly startedAt: string;
  readonly endedAt: string;
  readonly requests: number;
  /** Requests that `--apply` would add, for states, and the seconds for them. */
  readonly expected: { readonly requests: number; readonly seconds: number };
};

/** Returns the report as a value for JSON. */
export const renderReport = (summary: ImportSummary, report: ImportReport): object => ({
  ...summary,
  resources: Object.fromEntries([...report.counts].map(([kind, counts]) => [kind, Object.fromEntries(counts)])),
  notes: report.notes,
  'omitted-notes': report.omitted,
});

/** Names come from the source: they must neither end a cell nor control a terminal. */
const toCell = (text: string): string => text.replaceAll(/\p{C}/gu, '?').replaceAll(/[\\|`*_<>[\]]/g, String.raw`\$&`);

const toRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const formatCounts = (report: ImportReport): readonly string[] => [
  toRow(['Resources', ...IMPORT_OUTCOMES]),
  toRow(['---', ...IMPORT_OUTCOMES.map(() => '---:')]),
  ...[...report.counts].map(([kind, counts]) =>
    toRow([kind, ...IMPORT_OUTCOMES.map((outcome) => String(counts.get(outcome) ?? 0))]),
  ),
];

const formatNotes = ({ notes, omitted }: ImportReport): readonly string[] =>
  notes.length === 0
    ? []
    : [
        '',
        '## Notes',
        '',
        toRow(['Resource', 'Name', 'Outcome', 'Detail']),
        toRow(['---', '---', '---', '---']),
        ...notes.map(({ kind, name, outcome, detail }) => toRow([kind, toCell(name), outcome, toCell(detail)])),
        ...(omitted > 0 ? ['', `${omitted} more notes are left out.`] : []),
      ];

/** Returns the report in Markdown. */
export const formatReport = (summary: ImportSummary, report: ImportReport): string =>
  [
    `# Import of ${toCell(summary.from)} into ${toCell(summary.into)}: ${summary.mode}`,
    '',
    `From ${summary.startedAt} to ${summary.endedAt}, ${summary.requests} requests to the source.`,
    ...(summary.expected.requests > 0
      ? [`\`--apply\` downloads ${summary.expected.requests} states, in about ${summary.expected.seconds} s.`]
      : []),
    '',
    ...formatCounts(report),
    ...formatNotes(report),
    '',
  ].join('\n');
