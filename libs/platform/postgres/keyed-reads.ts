import type { Sql } from '#platform/kernel';
import { getActiveTrace, type ActiveTrace } from '#platform/tracing';
import type { DatabaseRow } from './database-row.js';
import { mergeKeyedQueries, pickRows, toStatement, type KeyedQuery } from './keyed-queries.js';
import type { StatementSharing } from './statement-spans.js';

type WaitingQuery = {
  readonly query: KeyedQuery;
  readonly trace: ActiveTrace | null;
  readonly resolve: (rows: DatabaseRow[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Runs the queries of one turn of the event loop together, with one statement for those that differ only in the key. */
export class KeyedReads {
  private waiting: WaitingQuery[] = [];

  constructor(private readonly run: (statement: Sql, sharing: StatementSharing) => Promise<DatabaseRow[]>) {}

  rows(query: KeyedQuery): Promise<DatabaseRow[]> {
    return new Promise((resolve, reject) => {
      const trace = getActiveTrace();
      if (this.waiting.push({ query, trace, resolve, reject }) === 1) setImmediate(() => this.send());
    });
  }

  private send(): void {
    const { waiting } = this;
    this.waiting = [];
    const byQuery = new Map(waiting.map((one) => [one.query, one]));
    for (const { statement, queries } of mergeKeyedQueries([...byQuery.keys()])) {
      const sharing = queries.map((query) => byQuery.get(query) as WaitingQuery);
      this.run(statement, describeSharing(sharing)).then(
        (rows) => sharing.forEach(({ query, resolve }) => resolve(pickRows(rows, query))),
        (error: unknown) => this.retryAlone(sharing, error),
      );
    }
  }

  /** One key may be the reason of the failure, so each query gets its own result. */
  private retryAlone(sharing: readonly WaitingQuery[], error: unknown): void {
    if (sharing.length === 1) return sharing.forEach(({ reject }) => reject(error));
    for (const one of sharing) {
      this.run(toStatement(one.query), describeSharing([one])).then(one.resolve, one.reject);
    }
  }
}

const describeSharing = (sharing: readonly WaitingQuery[]): StatementSharing => ({
  traces: sharing.flatMap(({ trace }) => trace ?? []),
  requests: sharing.length,
});
