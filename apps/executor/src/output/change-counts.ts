const ESCAPE = String.fromCodePoint(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');

export type ChangeCounts = {
  readonly additions: number;
  readonly changes: number;
  readonly destructions: number;
  readonly imports: number;
};

const NONE: ChangeCounts = { additions: 0, changes: 0, destructions: 0, imports: 0 };

const TEXT_SUMMARY =
  /^(?:Apply|Destroy) complete! Resources: (?:(\d+) imported, )?(?:(\d+) added, (\d+) changed, )?(\d+) destroyed/;

type JsonSummary = {
  readonly type?: unknown;
  readonly changes?: {
    readonly add?: unknown;
    readonly change?: unknown;
    readonly remove?: unknown;
    readonly import?: unknown;
  };
};

const toCount = (value: unknown): number => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0);

const parseJsonSummary = (line: string): ChangeCounts | null => {
  if (!line.includes('"change_summary"')) return null;
  try {
    const { type, changes } = JSON.parse(line) as JsonSummary;
    if (type !== 'change_summary' || !changes) return null;
    return {
      additions: toCount(changes.add),
      changes: toCount(changes.change),
      destructions: toCount(changes.remove),
      imports: toCount(changes.import),
    };
  } catch {
    return null;
  }
};

/** Returns the counts of the last summary in the output of an apply, in both formats of terraform. */
export const parseAppliedCounts = (line: string): ChangeCounts | null => {
  const json = parseJsonSummary(line);
  if (json) return json;
  const match = TEXT_SUMMARY.exec(line.replaceAll(COLOURS, ''));
  if (!match) return null;
  const [, imports, additions, changes, destructions] = match.map((text) => toCount(Number(text ?? 0)));
  return {
    ...NONE,
    additions: additions ?? 0,
    changes: changes ?? 0,
    destructions: destructions ?? 0,
    imports: imports ?? 0,
  };
};

type PlanChange = { readonly actions?: unknown; readonly importing?: unknown; readonly generated_config?: unknown };
type ChangesOfPlan = {
  readonly applyable?: unknown;
  readonly resource_changes?: readonly { readonly change?: PlanChange; readonly previous_address?: unknown }[];
  readonly output_changes?: Readonly<Record<string, PlanChange>>;
  readonly resource_drift?: readonly unknown[];
};

const listActions = (change: PlanChange | undefined): readonly unknown[] =>
  Array.isArray(change?.actions) ? (change.actions as readonly unknown[]) : [];

/** Returns the counts of `terraform show -json` of a plan. A replacement adds and destroys. */
export const countPlannedChanges = ({ resource_changes: resources = [] }: ChangesOfPlan): ChangeCounts => {
  const count = (matches: (change: PlanChange | undefined) => boolean): number =>
    resources.filter(({ change }) => matches(change)).length;
  return {
    additions: count((change) => listActions(change).includes('create')),
    changes: count((change) => listActions(change).includes('update')),
    destructions: count((change) => listActions(change).includes('delete')),
    imports: count((change) => change?.importing !== undefined && change.importing !== null),
  };
};

const isChange = (change: PlanChange): boolean => listActions(change).some((action) => action !== 'no-op');

/**
 * Returns whether an apply of the plan would change anything, outputs and the state included. Older versions of terraform
 * do not say it.
 */
export const hasPlannedChanges = (plan: ChangesOfPlan, isRefreshOnly: boolean): boolean => {
  if (typeof plan.applyable === 'boolean') return plan.applyable;
  const { additions, changes, destructions, imports } = countPlannedChanges(plan);
  return (
    additions + changes + destructions + imports > 0 ||
    (plan.resource_changes ?? []).some((one) => typeof one.previous_address === 'string') ||
    Object.values(plan.output_changes ?? {}).some(isChange) ||
    (isRefreshOnly && (plan.resource_drift ?? []).length > 0)
  );
};

/** Whether terraform has generated configuration for imported resources. */
export const hasGeneratedConfiguration = ({ resource_changes: changes = [] }: ChangesOfPlan): boolean =>
  changes.some(({ change }) => typeof change?.generated_config === 'string');
