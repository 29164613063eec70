import { fold, sql, type RecordedEvent } from '#platform/kernel';
import { selectForgottenPeopleIn } from '#storage/personal-data';
import type { EventStore } from '../event-store.js';
import { EVENT_CONTEXT } from '../log-queries.js';
import type { Aggregate, ModuleDefinition } from '../module-definition.js';

type StreamEvent = Pick<RecordedEvent, 'stream' | 'type' | 'schemaVersion' | 'data' | 'context'>;

type StreamRow = {
  stream: string;
  version: number;
  decider: number | null;
  state: unknown;
  events: StreamEvent[] | null;
};

/**
 * Returns the streams whose snapshot differs from their folded events, or whose version is not their number of events.
 */
export const verifySnapshots = async (
  store: EventStore,
  definitions: readonly ModuleDefinition[],
): Promise<string[]> => {
  const aggregates = new Map(
    definitions.flatMap((definition) => definition.aggregates.map((one) => [one.prefix, one.decider])),
  );
  const wrong: string[] = [];
  let after = '';
  for (;;) {
    const page = await store.database.rows<StreamRow>(sql`
      select s.stream, s.version, s.decider, e.events,
             case when not exists (${selectForgottenPeopleIn('s.state')}) then s.state end as state
        from (select * from event_store.streams where stream > ${after} order by stream limit 500) s
        left join lateral (select jsonb_agg(jsonb_build_object('stream', e.stream, 'type', e.type, 'schemaVersion', e.schema_version, 'data', e.data, 'context', ${EVENT_CONTEXT}) order by e.version) as events
                             from event_store.events e where e.stream = s.stream) e on true
       order by s.stream`);
    const opened = await store.personalDataCipher.open(
      page.flatMap(({ events }) => (events ?? []).map((event) => store.log.upcast(event))),
    );
    let first = 0;
    for (const row of page) {
      const decider = aggregates.get(row.stream.slice(0, row.stream.indexOf('-')));
      const events = opened.slice(first, (first += row.events?.length ?? 0));
      if (!isSnapshotCorrect(row, events, decider)) wrong.push(row.stream);
    }
    const last = page.at(-1);
    if (!last) return wrong;
    after = last.stream;
  }
};

/**
 * Returns whether a snapshot is correct. A snapshot of another decider version, or with names that are still to be
 * erased, counts as correct.
 */
const isSnapshotCorrect = (
  row: StreamRow,
  events: readonly StreamEvent[],
  decider: Aggregate['decider'] | undefined,
): boolean => {
  if (row.version !== events.length) return false;
  if (!decider || row.decider !== decider.version || row.state === null) return true;
  return isSameJson(fold(decider, decider.initial, events as never), row.state);
};

/** Compares JSON values without the order of keys, which jsonb does not keep. */
const isSameJson = (a: unknown, b: unknown): boolean => toCanonicalJson(a) === toCanonicalJson(b);

const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
