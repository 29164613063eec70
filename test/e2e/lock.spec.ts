import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type LogPosition, type RecordedEvent } from '#platform/kernel';
import { eventRegistry } from '../../apps/modules.js';
import { openPublisher, type RunningPublisher } from '../../apps/publisher/src/publisher.js';
import { costOf } from '../support/cost.js';
import { ROOT } from '../support/folders.js';
import { startKafka, type TestKafka } from '../support/kafka/index.js';
import { readUntilAll, versionsByKey, withoutRedeliveries } from '../support/kafka/topic-reader.js';
import { logLength, readWholeLog } from '../support/event-log.js';
import { makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

/** Allows for the start of a broker and for reading everything from it. */
const LONG = 180_000;

let kafka: TestKafka;
let prefix: string;
let server: TestServer;
let publisher: RunningPublisher | null;

beforeAll(async () => {
  kafka = await startKafka();
});

afterAll(() => kafka?.stop());

beforeEach(async () => {
  // The tests of this file share the broker, so each uses topics of its own.
  prefix = `site-${randomUUID()}`;
  publisher = null;
  const env = {
    KAFKA_BROKERS: kafka.brokers.join(','),
    CADASTRE_TOPIC_PREFIX: prefix,
    CADASTRE_PUBLIC_URL: 'https://cadastre.test',
  };
  server = await startTestServer({ followers: true, env });
});

afterEach(async () => {
  await publisher?.stop();
  await server.close();
});

const publish = (): void => {
  publisher = openPublisher(server.runtime);
  expect(publisher).not.toBeNull();
};

const lock = (id: string, reason = '') => server.post(`/api/v2/workspaces/${id}/actions/lock`, { reason });
const unlock = (id: string) => server.post(`/api/v2/workspaces/${id}/actions/unlock`);

const checkpoint = (): Promise<LogPosition | undefined> =>
  server.database.row<LogPosition>(
    sql`select transaction::text as transaction, position from event_store.checkpoints where follower = 'publisher'`,
  );

const versions = (log: readonly RecordedEvent[]): ReadonlyMap<string, readonly number[]> =>
  new Map([...Map.groupBy(log, ({ stream }) => stream)].map(([stream, all]) => [stream, all.map((e) => e.version)]));

const expectTopicsToEqualLog = async (): Promise<void> => {
  const log = await readWholeLog(server.store);
  const messages = withoutRedeliveries(await readUntilAll(kafka.brokers, eventRegistry, prefix, log));
  expect(messages.map(({ headers }) => headers['ce_id']).toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  expect(versionsByKey(messages)).toEqual(versions(log));
};

const lockedEvent = async (stream: string): Promise<RecordedEvent> => {
  const event = (await server.store.log.stream(stream)).find(({ type }) => type === 'WorkspaceLocked');
  if (!event) throw new Error(`${stream} was never locked`);
  return event;
};

describe('a lock', () => {
  it(
    'reaches Kafka and the audit trail as one event with one id',
    async () => {
      publish();
      const organization = await makeOrganization(server, 'acme');
      const id = await makeWorkspace(server, 'acme', 'one');
      const trail = server.as(await makeOrganizationToken(server, 'acme'));
      const answer = await lock(id, 'for the migration');
      expect(answer.status).toBe(200);

      const isLock = (message: { headers: Readonly<Record<string, string>> }): boolean =>
        message.headers['ce_type'] === 'cadastre.WorkspaceLocked.v1';
      const messages = await readUntilAll(kafka.brokers, eventRegistry, prefix, await readWholeLog(server.store));
      const response = await trail.get('/api/v2/organization/audit-trail');
      const entry = (response.body.data as any[]).find(({ resource }) => resource.action === 'lock');
      const event = await lockedEvent(id);
      const message = messages.find(isLock);

      expect(message).toMatchObject({
        topic: `${prefix}.workspaces`,
        key: id,
        timestamp: String(Date.parse(event.time)),
      });
      expect(JSON.parse(message?.value ?? '')).toEqual({
        holder: { type: 'users', id: event.context.accessor.id, name: 'admin' },
        reason: 'for the migration',
      });
      expect(message?.headers).toEqual({
        'content-type': 'application/json',
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_type: 'cadastre.WorkspaceLocked.v1',
        ce_source: 'https://cadastre.test',
        ce_subject: id,
        ce_time: event.time,
        ce_organization: organization.id,
        ce_stream: id,
        ce_version: '2',
        ce_position: String(event.position),
        ce_authtype: 'user',
        ce_authid: event.context.accessor.id,
        ce_request: answer.headers.get('x-request-id'),
        ce_correlationid: answer.headers.get('x-request-id'),
      });
      expect(entry).toMatchObject({
        id: event.id,
        auth: { accessor_id: event.context.accessor.id, organization_id: organization.id, type: 'Client' },
        request: { id: answer.headers.get('x-request-id') },
        resource: { id, type: 'workspace', action: 'lock', meta: { reason: 'for the migration' } },
      });
    },
    LONG,
  );

  it(
    'is printed by the consumer of the reference page',
    async () => {
      publish();
      await makeOrganization(server, 'acme');
      const id = await makeWorkspace(server, 'acme', 'one');
      await lock(id, 'for the migration');
      await expectTopicsToEqualLog();

      const page = await readFile(join(ROOT, 'docs/reference/events.md'), 'utf8');
      const program = /^```js\n(.*?)^```$/ms
        .exec(page)?.[1]
        ?.replace("'cadastre.workspaces'", `'${prefix}.workspaces'`);
      const consumer = spawn(process.execPath, ['--input-type=module', '--eval', program ?? ''], {
        cwd: ROOT,
        env: { KAFKA_BROKERS: kafka.brokers.join(',') },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = once(consumer, 'close');
      const printed: string[] = [];
      for await (const line of createInterface(consumer.stdout)) {
        printed.push(line);
        if (line.includes('WorkspaceLocked')) consumer.kill();
      }
      await ended;
      expect(printed.filter((line) => line.startsWith('cadastre.'))).toEqual([
        expect.stringContaining(`cadastre.WorkspaceCreated.v`),
        expect.stringMatching(new RegExp(`^cadastre.WorkspaceLocked.v1 ${id} 2 `)),
      ]);
    },
    LONG,
  );

  it('is not published if it is refused', async () => {
    publish();
    await makeOrganization(server, 'acme');
    const id = await makeWorkspace(server, 'acme', 'one');
    await lock(id);
    const before = await logLength(server.store);
    expect((await lock(id)).status).toBe(409);
    expect(await logLength(server.store)).toBe(before);
    // The publisher follows the order of the log. When it has sent this event, it has passed all earlier ones.
    expect((await unlock(id)).status).toBe(200);
    await expectTopicsToEqualLog();
  });
});

describe('Kafka', () => {
  it('gets the whole history, each stream in order, if it is configured long after the first event', async () => {
    await makeOrganization(server, 'acme');
    const ids = await Promise.all([1, 2, 3, 4].map((n) => makeWorkspace(server, 'acme', `workspace-${n}`)));
    for (let round = 0; round < 5; round += 1) {
      const done = await Promise.all(ids.map(async (id) => [(await lock(id)).status, (await unlock(id)).status]));
      expect(done.flat().every((status) => status === 200)).toBe(true);
    }
    expect(await checkpoint()).toBeUndefined();
    publish();
    await expectTopicsToEqualLog();
  });

  it(
    'gets the backlog after an outage, during which requests are neither refused nor slower',
    async () => {
      publish();
      await makeOrganization(server, 'acme');
      const id = await makeWorkspace(server, 'acme', 'one');
      const earlier = await readWholeLog(server.store);
      await readUntilAll(kafka.brokers, eventRegistry, prefix, earlier);

      await kafka.kill();
      for (let round = 0; round < 50; round += 1) {
        // The gateway does not use Kafka, so the cost of a lock stays the same.
        for (const action of [lock, unlock])
          expect(await costOf(server, () => action(id))).toMatchObject({ status: 200, roundTrips: 2 });
      }
      const stopped = await checkpoint();
      const log = await readWholeLog(server.store);
      expect(log).toHaveLength(earlier.length + 100);
      expect(BigInt(stopped?.position ?? -1)).toBeLessThanOrEqual(BigInt(earlier.at(-1)?.position ?? 0));

      await kafka.restart();
      await expectTopicsToEqualLog();
    },
    LONG,
  );
});
