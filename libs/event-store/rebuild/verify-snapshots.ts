import { fold, sql, type RecordedEvent } from '#kernel';
import type { DatabaseRow } from '#postgres';
import { selectForgottenPeopleIn } from '#personal-data';
import type { EventStore } from '../event-store.js';
import type { Aggregate, ModuleDefinition } from '../module-definition.js';

type StreamRow = DatabaseRow & {
  stream: string;
  version: number;
  decider: number | null;
  state: unknown;
  events: RecordedEvent[] | null;
};

/** The streams whose snapshot is not what their events fold to, or whose version is not their number of events. */
export const verifySnapshots = async (store: EventStore, slices: readonly ModuleDefinition[]): Promise<string[]> => {
  const aggregates = new Map(slices.flatMap((slice) => slice.aggregates.map((one) => [one.prefix, one.decider])));
  const wrong: string[] = [];
  let after = '';
  for (;;) {
    const page = await store.database.rows<StreamRow>(sql`
      select s.stream, s.version, s.decider, e.events,
             case when not exists (${selectForgottenPeopleIn('s.state')}) then s.state end as state
        from (select * from event_store.streams where stream > ${after} order by stream limit 500) s
        left join lateral (select jsonb_agg(jsonb_build_object('stream', e.stream, 'type', e.type, 'schemaVersion', e.schema_version, 'data', e.data, 'context', e.context) order by e.version) as events
                             from event_store.events e where e.stream = s.stream) e on true
       order by s.stream`);
    const opened = await store.personalDataCipher.open(
      page.flatMap(({ events }) => (events ?? []).map((event) => store.upcast(event))),
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

/** A snapshot that an older decider left behind, or that is still to be cleaned of a name, says nothing. */
const isSnapshotCorrect = (
  row: StreamRow,
  events: readonly RecordedEvent[],
  decider: Aggregate['decider'] | undefined,
): boolean => {
  if (row.version !== events.length) return false;
  if (!decider || row.decider !== decider.version || row.state === null) return true;
  return isSameJson(fold(decider, decider.initial, events as never), row.state);
};

/** jsonb keeps no order of keys. */
const isSameJson = (left: unknown, right: unknown): boolean => toCanonicalJson(left) === toCanonicalJson(right);

const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
