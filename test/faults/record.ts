import { expect } from '@jest/globals';
import type { Recorded } from '#kernel';
import { Database, EventStore } from '#event-store';
import { RandomIds, SystemClock } from '#host';
import { registry } from '../../apps/slices.js';
import { readUntilAll, versionsByKey, withoutRedeliveries } from '../support/kafka/topics-read.js';
import { wholeLog } from '../support/log.js';

/** The log in the database at this address. */
export const readLog = async (url: string): Promise<readonly Recorded[]> => {
  const database = new Database({ url, connections: 1, applicationName: 'cadastre test' });
  try {
    return await wholeLog(new EventStore(database, registry, [], new SystemClock(), new RandomIds()));
  } finally {
    await database.close();
  }
};

const PAGE = 1_000;

/** Every entry of an organization's trail, newest first, as a poller reads it. */
export const readTrail = async (url: string, token: string): Promise<readonly { id: string; timestamp: string }[]> => {
  const entries: { id: string; timestamp: string }[] = [];
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

/** Each event that the catalogue has a row for is there once, under its own id, and none that is not in the log. */
export const expectTrailToHave = (
  trail: readonly { id: string; timestamp: string }[],
  log: readonly Recorded[],
  organization: string,
): void => {
  const audited = log.filter(({ organization: owner, type }) => {
    const kind = registry[type];
    return owner === organization && kind && !('unaudited' in kind.audit);
  });
  expect(trail.map(({ id }) => id)).toEqual(audited.map(({ id }) => id).toReversed());
  const times = trail.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...new Set(times)].toSorted().toReversed());
};

/** Each event is in the topics, once when redeliveries are taken off, and each stream in its order. */
export const expectTopicsToHave = async (
  brokers: readonly string[],
  prefix: string,
  log: readonly Recorded[],
): Promise<void> => {
  const messages = withoutRedeliveries(await readUntilAll(brokers, registry, prefix, log));
  expect(messages.map(({ headers }) => headers['ce_id']).toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  const outOfOrder = [...versionsByKey(messages)].filter(([, versions]) =>
    versions.some((version, index) => version !== index + 1),
  );
  expect(outOfOrder).toEqual([]);
};
