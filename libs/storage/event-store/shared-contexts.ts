import { sql, type EventContext, type RecordedEvent } from '#platform/kernel';
import { castRows, type QueryRunner } from '#platform/postgres';
import type { EventRow } from './log-queries.js';

type ContextRow = { readonly id: number; readonly context: SharedContext };

/** A context as event_store.contexts stores it: without the values that differ between the requests of a client. */
type SharedContext = Omit<EventContext, 'correlation' | 'causation' | 'request'> & {
  readonly request: Omit<EventContext['request'], 'id'>;
};

/** About 1 KB each. */
const MAX_CACHED_CONTEXTS = 5_000;

/**
 * Adds the contexts to events that share them. Rows of event_store.contexts never change, so a process reads each once.
 * Texts of people in them are encrypted.
 */
export class SharedContexts {
  private readonly cache = new Map<number, SharedContext>();

  async complete(rows: readonly EventRow[], run: QueryRunner): Promise<RecordedEvent[]> {
    const contexts = await this.find(new Set(rows.flatMap(({ sharedContext }) => sharedContext ?? [])), run);
    return rows.map((row) => ({
      type: row.type,
      data: row.data,
      id: row.id,
      stream: row.stream,
      version: row.version,
      schemaVersion: row.schemaVersion,
      organization: row.organization,
      time: row.time,
      context: row.context ?? restore(contexts, row),
      traceparent: row.traceparent,
      transaction: row.transaction,
      position: row.position,
    }));
  }

  private async find(ids: ReadonlySet<number>, run: QueryRunner): Promise<ReadonlyMap<number, SharedContext>> {
    const contexts = new Map<number, SharedContext>();
    const missing: number[] = [];
    for (const id of ids) {
      const context = this.cache.get(id);
      if (context) contexts.set(id, context);
      else missing.push(id);
    }
    if (missing.length === 0) return contexts;
    const rows = castRows<ContextRow>(
      await run(sql`select id, context from event_store.contexts where id = any (${missing}::bigint[])`),
    );
    if (this.cache.size + rows.length > MAX_CACHED_CONTEXTS) this.cache.clear();
    for (const { id, context } of rows) {
      this.cache.set(id, context);
      contexts.set(id, context);
    }
    return contexts;
  }
}

/** Copies everything that a reader may overwrite with decrypted texts. */
const restore = (
  contexts: ReadonlyMap<number, SharedContext>,
  { id, sharedContext, request }: EventRow,
): EventContext => {
  const shared = contexts.get(sharedContext ?? 0);
  if (!shared || request === null) throw new Error(`the log has no context for the event ${id}`);
  return {
    ...shared,
    accessor: { ...shared.accessor },
    request: { ...shared.request, id: request },
    correlation: request,
    causation: null,
  };
};
