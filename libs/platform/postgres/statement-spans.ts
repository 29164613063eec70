import { compileStatement, type Sql } from '#platform/kernel';
import { getActiveTrace, withSharedSpan, type ActiveTrace, type SpanDescription } from '#platform/tracing';
import { summarizeStatement } from './statement-summary.js';

/** The requests that statements belong to. */
export type StatementSharing = {
  /** The traces of those requests that are recorded. */
  readonly traces: readonly ActiveTrace[];
  readonly requests: number;
};

const NO_TRACES: readonly ActiveTrace[] = [];

/** Returns the trace of the current work, if it is recorded. */
export const listActiveTraces = (): readonly ActiveTrace[] => {
  const active = getActiveTrace();
  return active ? [active] : NO_TRACES;
};

/** The longest statement has several thousand characters. The beginning identifies it. */
const MAX_TEXT = 1_000;

const describeStatements = (
  statements: readonly Sql[],
  { requests }: StatementSharing,
): SpanDescription & { readonly name: string } => {
  const texts = statements.map((statement) => compileStatement(statement).text);
  const summary = texts.length === 1 ? summarizeStatement(texts[0] ?? '') : 'transaction';
  return {
    name: summary,
    kind: 'CLIENT',
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': texts.length === 1 ? summary : texts.map(summarizeStatement).join('; ').slice(0, MAX_TEXT),
      // Texts have parameters instead of values.
      ...(texts.length === 1 && {
        'db.query.text': (texts[0] ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TEXT),
      }),
      ...(texts.length > 1 && { 'db.operation.batch.size': texts.length }),
      ...(requests > 1 && { 'cadastre.requests': requests }),
    },
  };
};

/** Runs statements with a span in each of the traces. Without recorded traces, runs only the work. */
export const traceStatements = <T>(
  statements: readonly Sql[],
  sharing: StatementSharing,
  work: () => Promise<T>,
): Promise<T> => {
  if (sharing.traces.length === 0) return work();
  const { name, ...description } = describeStatements(statements, sharing);
  return withSharedSpan(sharing.traces, name, description, work);
};
