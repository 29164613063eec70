import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import pg from 'pg';
import { unmigratedDatabase, type TestDatabase } from '../../../test/support/database.js';
import { createTables } from './consumer-tables.js';
import { PartitionReader } from './partition-reader.js';
import type { RecordHandler } from './record-handler.js';
import { RecordTransactions } from './record-transactions.js';
import { RetryPauses } from './retry-pauses.js';

const SCHEMA = 'cadastre_consumer';
const TOPIC = 'cadastre.workspaces';

let testDatabase: TestDatabase;
let database: pg.Pool;
let warnings: string[];
let pauses: number[];

beforeEach(async () => {
  testDatabase = await unmigratedDatabase();
  database = new pg.Pool({ connectionString: testDatabase.url });
  database.on('error', () => undefined);
  const client = await database.connect();
  await createTables(client, SCHEMA);
  client.release();
  warnings = [];
  pauses = [];
});

afterEach(async () => {
  await database.end();
  await testDatabase.drop();
});

/** A client whose topics keep all records. */
const kafka = {
  admin: () => ({
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    fetchTopicOffsets: () => Promise.resolve([{ partition: 0, low: '0' }]),
  }),
} as unknown as Kafka;

const consumer = { seek: () => undefined } as unknown as Consumer;

/** A batch with one record, at the start of a partition. */
const createBatch = (partition = 0): EachBatchPayload =>
  ({
    batch: {
      topic: TOPIC,
      partition,
      highWatermark: '1',
      messages: [{ offset: '0', key: Buffer.from('ws-1'), value: null, headers: {} }],
    },
    isRunning: () => true,
    isStale: () => false,
    heartbeat: () => Promise.resolve(),
    resolveOffset: () => undefined,
    uncommittedOffsets: () => ({ topics: [] }),
    commitOffsetsIfNecessary: () => Promise.resolve(),
  }) as unknown as EachBatchPayload;

/** Creates a reader that records its pauses and does not wait. */
const createReader = (handle: RecordHandler, duringPause = () => Promise.resolve()): PartitionReader => {
  const { signal } = new AbortController();
  const logger = { warn: (message: string) => void warnings.push(message) };
  const sleep = (ms: number): Promise<void> => {
    pauses.push(ms);
    return duringPause();
  };
  const createPauses = (): RetryPauses => new RetryPauses(logger, signal, sleep);
  const options = { database, consumer: 'inventory', schema: SCHEMA, handle, attempts: 5, logger, createPauses };
  const records = new RecordTransactions(options);
  return new PartitionReader({ kafka, records, createPauses, logger, recordsPerTransaction: 500, signal });
};

const storeOffset = (partition: number, next: number): Promise<unknown> =>
  database.query(
    `insert into cadastre_consumer.offsets values ('inventory', $1, $2, $3)
     on conflict (consumer, topic, partition) do update set next_offset = excluded.next_offset`,
    [TOPIC, partition, next],
  );

describe('a reader of partitions', () => {
  it('waits longer before each batch of a partition that ends before its stored offset', async () => {
    await storeOffset(0, 100);
    const reader = createReader(() => Promise.resolve());
    for (let n = 0; n < 16; n += 1) {
      await reader.handleBatch(createBatch(0), consumer);
      // Records of another partition are handled in the meantime.
      await storeOffset(1, 0);
      await reader.assign({ [TOPIC]: [0, 1] }, consumer, () => true);
      await reader.handleBatch(createBatch(1), consumer);
    }
    expect(pauses.slice(0, 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000]);
    expect(warnings).toHaveLength(5);
    expect(warnings[0]).toContain(`${TOPIC}/0 ends at 1, and this consumer has read up to 100`);
  });

  it('waits 100 ms again after the partition had its stored offset', async () => {
    const reader = createReader(() => Promise.resolve());
    const readFrom = async (offset: number): Promise<void> => {
      await storeOffset(0, offset);
      await reader.assign({ [TOPIC]: [0] }, consumer, () => true);
      await reader.handleBatch(createBatch(0), consumer);
    };
    for (const offset of [100, 100, 0, 100]) await readFrom(offset);
    expect(pauses).toEqual([100, 200, 100]);
  });

  it('waits longer after each failure of a record, even if the group assigns its partitions in the meantime', async () => {
    const reader: PartitionReader = createReader(
      () => Promise.reject(new Error('no paper')),
      () => reader.assign({ [TOPIC]: [0] }, consumer, () => true),
    );
    await reader.handleBatch(createBatch(), consumer);
    expect(pauses).toEqual([100, 200, 400, 800]);
    expect(warnings.at(-1)).toBe(`record 0 of ${TOPIC}/0 is a dead letter: no paper`);
  });
});
