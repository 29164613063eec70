import { createHash } from 'node:crypto';
import { sql, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, type EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { toTrailSettingsStream, trailSettings, type LogBeginning } from '../settings/audit-trail-settings.js';
import { IS_UNLOGGED_TRAIL } from '../audit-trail.follower.js';
import { ENTRY_COLUMNS, toTrailEntry, type EntryRow } from '../writing/stored-entry.js';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { formatOlderEntry } from './older-entries.js';

const EVERY_MS = 60_000;
const ENTRIES_PER_READ = 500;

/**
 * Starts the logs of trails that had entries before they could have a log: those of an upgraded site, and of organizations
 * that were imported. An event says how many older entries there are, and the log begins with its entry. A failure of one
 * organization does not prevent the others.
 */
export const createLogStartsJob = (store: EventStore, ids: Ids): ScheduledJob => ({
  name: 'audit_trail_log_starts',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const trails = await store.database.rows<{ organization: string }>(
      sql`select t.organization from audit_trails t where ${IS_UNLOGGED_TRAIL} order by t.organization`,
    );
    const failures: Error[] = [];
    for (const { organization } of trails) {
      if (signal.aborted) return;
      try {
        if (await startLog(store, ids, organization)) done();
      } catch (cause) {
        failures.push(new Error(`the log of ${organization} could not be started`, { cause }));
      }
    }
    if (failures.length > 0) throw new Error(`${failures.length} logs could not be started`, { cause: failures[0] });
  },
});

/** Returns false if the trail has a log meanwhile. */
const startLog = (store: EventStore, ids: Ids, organization: string): Promise<boolean> =>
  store.retryOnConflict(async () => {
    // The versions are read first: another process that starts the log after this causes a conflict, and the trail contains
    // the event of one that started it before.
    const settings = await store.load(toTrailSettingsStream(organization), trailSettings);
    const version = await readVersion(store, organization);
    const beginning = await describeBeginning(store, organization);
    if (!beginning) return false;
    const write = decideWrite(trailSettings, settings, organization, { type: 'StartAuditTrailLog', data: beginning });
    const context = createSystemContext('audit-trail', ids.uuid());
    await store.append([expectVersion(organization, version), write], context);
    return true;
  });

const readVersion = async ({ database }: EventStore, stream: string): Promise<number> => {
  const row = await database.row<{ version: number }>(
    sql`select version from event_store.streams where stream = ${stream}`,
  );
  return row?.version ?? 0;
};

/** Describes the entries that are stored, until there are no new ones. Null if the trail has a log. */
const describeBeginning = async (store: EventStore, organization: string): Promise<LogBeginning | null> => {
  const digest = createHash('sha256');
  let [olderEntries, last]: [number, EntryRow | null] = [0, null];
  for (;;) {
    await waitForTrail(store, organization);
    const rows = await listUnloggedRows(store, organization, last?.ordinal ?? 0);
    if (!rows) return null;
    const newest = rows.at(-1);
    if (!newest) break;
    const entries = await store.personalDataCipher.openIn(rows.map(toTrailEntry));
    digest.update(entries.map(formatOlderEntry).join(''));
    olderEntries += rows.length;
    last = newest;
  }
  return {
    olderEntries,
    lastOlderEntry: last?.id ?? null,
    olderDigest: digest.digest('base64'),
    ...(await readFormerLog(store, organization)),
  };
};

/** Returns the origin and the newest checkpoint of the log at the site from which the organization was imported. */
const readFormerLog = async (
  { database }: EventStore,
  organization: string,
): Promise<Pick<LogBeginning, 'formerOrigin' | 'formerCheckpoint'>> => {
  const row = await database.row<{ note: string | null }>(sql`
    select data ->> 'trailCheckpoint' as note from event_store.events
     where stream = ${organization} and type = 'OrganizationImported' order by version desc limit 1`);
  const note = row?.note ?? null;
  // The origin is the first line of a checkpoint.
  return { formerOrigin: note && (note.split('\n', 1)[0] ?? null), formerCheckpoint: note };
};

/** Returns the next entries of a trail without a log, oldest first; null if it has a log or is closed. */
const listUnloggedRows = async (
  { database }: EventStore,
  organization: string,
  after: number,
): Promise<readonly EntryRow[] | null> => {
  const trail = await database.row<{ organization: string }>(
    sql`select t.organization from audit_trails t where t.organization = ${organization} and ${IS_UNLOGGED_TRAIL}`,
  );
  if (!trail) return null;
  return database.rows<EntryRow>(sql`
    select ${ENTRY_COLUMNS} from audit_trail_entries e
     where e.organization = ${organization} and e.ordinal > ${after} order by e.ordinal limit ${ENTRIES_PER_READ}`);
};
