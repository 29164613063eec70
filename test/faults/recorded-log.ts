import { expect } from '@jest/globals';
import { findAuditMapping, type RecordedEvent } from '#platform/kernel';
import { EncryptionKeys } from '#platform/encryption';
import { EventStore } from '#storage/event-store';
import { Database } from '#platform/postgres';
import { RandomIds, SystemClock } from '#platform/host';
import { eventRegistry } from '../../apps/modules.js';
import { readUntilAll, versionsByKey, withoutRedeliveries } from '../support/kafka/topic-reader.js';
import { readWholeLog } from '../support/event-log.js';

/** Reads the log of the database at this URL. */
export const readLog = async (url: string): Promise<readonly RecordedEvent[]> => {
  const database = new Database({ url, connections: 1, applicationName: 'cadastre test' });
  try {
    // Reading needs no encryption key, because personal data stays encrypted.
    const store = new EventStore(
      database,
      eventRegistry,
      [],
      new SystemClock(),
      new RandomIds(),
      new EncryptionKeys(Buffer.alloc(32)),
    );
    return await readWholeLog(store, { keepEncrypted: true });
  } finally {
    await database.close();
  }
};

const PAGE = 1_000;

type RecordedTrailEntry = {
  readonly id: string;
  readonly timestamp: string;
  readonly resource: { readonly type: string; readonly id: string };
};

/** Returns every entry of an organization's trail, newest first, as a poller reads it. */
export const readTrail = async (url: string, token: string): Promise<readonly RecordedTrailEntry[]> => {
  const entries: RecordedTrailEntry[] = [];
  for (let page: number | null = 1; page !== null;) {
    const path = `/api/v2/organization/audit-trail?page%5Bsize%5D=${PAGE}&page%5Bnumber%5D=${page}`;
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    const { data, pagination } = (await response.json()) as any;
    entries.push(...data);
    page = pagination.next_page;
  }
  return entries;
};

/** Returns the events of an organization that the trail must record. */
export const auditedOf = (log: readonly RecordedEvent[], organization: string): readonly RecordedEvent[] =>
  log.filter((event) => {
    const kind = eventRegistry[event.type];
    return event.organization === organization && kind && findAuditMapping(kind, event) !== null;
  });

/** Expects the trail to contain each audited event once, under its id, and nothing else. */
export const expectTrailToHave = (
  trail: readonly RecordedTrailEntry[],
  log: readonly RecordedEvent[],
  organization: string,
): void => {
  const audited = auditedOf(log, organization);
  expect(trail.map(({ id }) => id)).toEqual(audited.map(({ id }) => id).toReversed());
  const times = trail.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...new Set(times)].toSorted().toReversed());
};

/** Expects the topics to contain each event, apart from redeliveries once, and each stream in order. */
export const expectTopicsToHave = async (
  brokers: readonly string[],
  prefix: string,
  log: readonly RecordedEvent[],
): Promise<void> => {
  const messages = withoutRedeliveries(await readUntilAll(brokers, eventRegistry, prefix, log));
  expect(messages.map(({ headers }) => headers['ce_id']).toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  const outOfOrder = [...versionsByKey(messages)].filter(([, versions]) =>
    versions.some((version, index) => version !== index + 1),
  );
  expect(outOfOrder).toEqual([]);
};
