/** What an expression of PromQL reads: a metric and the labels that select its series. */
type Selector = {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
};

const METRIC = /\b((?:cadastre|nodejs|process)_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)(=~|!~|!=|=)"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right) ?\(([^)]*)\)/g;

/** Returns the selectors of an expression. promtool checks the syntax, so this only finds names. */
export const listSelectors = (expression: string): Selector[] =>
  [...expression.matchAll(METRIC)].map(([, metric = '', matchers = '']) => ({
    metric,
    matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      label,
      operator,
      value,
    })),
  }));

/** Returns the labels by which an expression groups or joins series. */
export const listGroupingLabels = (expression: string): string[] =>
  [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean),
  );

/** Returns the metric to which a series belongs: a histogram has series for buckets, sum and count. */
export const toMetricName = (series: string, histograms: ReadonlySet<string>): string => {
  const base = series.replace(/_(?:bucket|sum|count)$/, '');
  return histograms.has(base) ? base : series;
};

/** Returns whether a matcher selects series with this value of the label. */
export const matchesValue = (operator: string, pattern: string, value: string): boolean => {
  const isMatch = operator.endsWith('~') ? new RegExp(`^(?:${pattern})$`).test(value) : pattern === value;
  return operator.startsWith('!') ? !isMatch : isMatch;
};
