import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type pg from 'pg';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { quiet } from '../../../test/support/silent-logger.js';
import { EncryptionKeys } from '#platform/encryption';
import {
  defineEvents,
  sql,
  type EventContext,
  type DataOf,
  type LogPosition,
  type Message,
  type Projection,
  type RecordedEvent,
} from '#platform/kernel';
import { EventStore, FollowerRunner, type Follower } from '#storage/event-store';
import { isForgottenPersonError, isVersionConflictError } from '#platform/postgres';
import {
  CLOCK,
  context,
  CountedIds,
  TEST_ENCRYPTION_KEYS,
  TestEventStore,
  waitForCondition,
} from '../event-store/spec.js';
import type { LogPage } from '../event-store/log-reader.js';
import { LOG_START } from '../event-store/log-positions.js';

/**
 * A guest book: an event contains the name of the guest, in its data and in its context, and a guest can be forgotten.
 */
type SignedEvent =
  | Message<'Signed', { guest: string; name: string; from: string | null; words: string }>
  | Message<'Struck', { guest: string }>;

const schema = <T extends SignedEvent['type']>() => ({ parse: (data: unknown) => data as DataOf<SignedEvent, T> });
const audit = { unaudited: 'a sample' };
const kinds = defineEvents(
  { topic: 'guests', stream: 'book', live: { unsent: 'a sample' } },
  {
    Signed: {
      schema: schema<'Signed'>(),
      audit,
      personal: ({ guest }) => [
        { at: ['name'], person: guest, kind: 'name' },
        { at: ['from'], person: guest, kind: 'detail' },
      ],
    },
    Struck: { schema: schema<'Struck'>(), audit, forgets: ({ guest }) => guest },
  },
);

let home: TestDatabase;
let testStore: TestEventStore;
let store: EventStore;
let client: pg.Client;
let projected: SignedEvent['data'][];

const openStore = (): EventStore => {
  const projection: Projection = {
    name: 'guests',
    tables: [],
    on: { Signed: (data) => (projected.push(data as SignedEvent['data']), null) },
  };
  return new EventStore(testStore.database, kinds, [projection], CLOCK, IDS, TEST_ENCRYPTION_KEYS);
};

const IDS = new CountedIds();

beforeEach(async () => {
  home = await freshDatabase();
  testStore = await TestEventStore.over(home.url);
  client = await testStore.connect();
  projected = [];
  store = openStore();
});

afterEach(async () => {
  await testStore.close();
  await home.drop();
});

const by = (guest: string, name: string): EventContext => ({
  ...context,
  accessor: { id: guest, type: 'users', name },
  request: { id: 'r', address: '203.0.113.7', userAgent: 'quill/1' },
});
const signed = (guest: string, name: string, words = 'hello', from: string | null = 'the attic'): SignedEvent => ({
  type: 'Signed',
  data: { guest, name, from, words },
});
const signedById = (guest: string): SignedEvent => signed(guest, guest, 'hello', null);
const struck = (guest: string): SignedEvent => ({ type: 'Struck', data: { guest } });
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => error,
  );
const sign = (event: SignedEvent, context: EventContext, on = store, stream = 'book-1') =>
  on.append([{ stream, organization: null, expected: 'any', events: [event] }], context);
const strike = (guest: string, on = store) =>
  sign(struck(guest), { ...context, accessor: { id: 'system', type: 'system', name: 'us' } }, on);

/** Reads all committed events, although transactions of other tests may still run in the same Postgres. */
const readOn = (on: EventStore, after: LogPosition, limit: number, how = {}): Promise<readonly RecordedEvent[]> =>
  on.log.read(after, limit, (statement) => testStore.database.rows(statement), { extent: 'committed', ...how });

const log = async (): Promise<string> =>
  (await client.query('select string_agg(e::text, chr(10)) as text from event_store.events e')).rows[0].text as string;

/** None of these can appear by chance in base64url. */
const PERSONAL = /ada l\.|attic|203\.0|quill/;

describe('texts of people', () => {
  it('are encrypted in the log, and decrypted for views and readers', async () => {
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    expect(await log()).not.toMatch(PERSONAL);
    expect(await log()).toContain('hello');
    expect(projected).toEqual([signed('user-1', 'ada l.').data]);
    for (const reader of [store, openStore()]) {
      const [event] = await reader.log.stream('book-1');
      expect(event).toMatchObject({ data: signed('user-1', 'ada l.').data, context: by('user-1', 'ada l.') });
      const read = await readOn(reader, LOG_START, 10);
      expect(read).toEqual([event]);
    }
  });

  it('stay plain for the system and for tokens of teams, which cannot be forgotten', async () => {
    for (const type of ['system', 'teams']) {
      const accessor = { id: 'somebody', type, name: 'ada l.' };
      await sign(struck('nobody'), { ...context, accessor });
    }
    expect((await log()).match(/ada l\./g)).toHaveLength(2);
  });

  it('are replaced by ids after their key is gone, also in processes that cached the key', async () => {
    const warm = openStore();
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'), warm);
    await sign(signed('user-2', 'bob'), by('user-2', 'bob'), warm);
    await strike('user-1');
    const forgotten = { guest: 'user-1', name: 'user-1', from: null, words: 'hello' };
    for (const reader of [store, warm, openStore()]) {
      const events = await reader.log.stream('book-1');
      expect(events.map(({ data }) => data)).toEqual([forgotten, signed('user-2', 'bob').data, { guest: 'user-1' }]);
      expect(events[0]?.context).toMatchObject({
        accessor: { id: 'user-1', name: 'user-1' },
        request: { id: 'r', address: null, userAgent: null },
      });
    }
  });

  it('are decrypted for a follower of the log until it passes the event that forgets the person', async () => {
    const follower = openStore();
    const next = async (after = LOG_START) => (await readOn(follower, after, 1))[0];
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    const first = await next();
    await strike('user-1');
    // The key is still cached, and no event that was read says that the person is forgotten.
    expect((await next())?.data).toMatchObject({ name: 'ada l.' });
    expect((await next(first))?.type).toBe('Struck');
    expect((await next())?.data).toMatchObject({ name: 'user-1' });
  });

  it('are no longer published by a process that still has the key in its cache and is late', async () => {
    const publisher = openStore();
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'), publisher);
    const published: unknown[] = [];
    let unpublished: unknown[] | null = [];
    const follow: Follower['follow'] = (events) => {
      (unpublished ?? published).push(...events.map(({ data }) => data));
      return unpublished ? Promise.reject(new Error('the brokers are away')) : Promise.resolve([]);
    };
    const follower: Follower = { name: 'publisher', batch: 1, tables: [], follow };
    const runner = new FollowerRunner(publisher, follower, quiet);
    runner.start();
    await waitForCondition(() => unpublished?.length !== 0);
    expect(unpublished[0]).toEqual(signed('user-1', 'ada l.').data);
    await strike('user-1');
    // A batch that read them before may still be running.
    const tried = unpublished.length;
    await waitForCondition(() => unpublished?.length !== tried);
    unpublished = null;
    await waitForCondition(() => published.length === 2);
    await runner.stop();
    expect(published).toEqual([signedById('user-1').data, { guest: 'user-1' }]);
  });

  it('are no longer published from events that the process read before the person was forgotten', async () => {
    const publisher = openStore();
    const read = jest.spyOn(publisher.log, 'readPage');
    const gate = Promise.withResolvers<void>();
    const published: unknown[] = [];
    let batches = 0;
    const follow: Follower['follow'] = async (events) => {
      batches += 1;
      if (batches === 2) await gate.promise;
      published.push(...events.map(({ data }) => data));
      return [];
    };
    const runner = new FollowerRunner(publisher, { name: 'publisher', batch: 1, tables: [], follow }, quiet);
    runner.start();
    await sign(signed('user-1', 'ada l.', 'first'), by('user-1', 'ada l.'));
    await waitForCondition(() => published.length === 1);
    // An empty read: the follower has caught up and reads ahead from now on.
    const listRead = async (): Promise<readonly (readonly RecordedEvent[])[]> => {
      const pages = await Promise.all(read.mock.results.map(({ value }) => value as Promise<LogPage>));
      return pages.map(({ events }) => events);
    };
    await waitForCondition(async () => (await listRead()).at(-1)?.length === 0);
    await sign(signed('user-1', 'ada l.', 'second'), by('user-1', 'ada l.'));
    await waitForCondition(() => batches === 2);
    await sign(signed('user-1', 'ada l.', 'third'), by('user-1', 'ada l.'));
    await waitForCondition(async () => (await listRead()).flat().length === 3);
    await strike('user-1');
    gate.resolve();
    await waitForCondition(() => published.length === 4);
    await runner.stop();
    expect(published).toEqual([
      signed('user-1', 'ada l.', 'first').data,
      signed('user-1', 'ada l.', 'second').data,
      signed('user-1', 'user-1', 'third', null).data,
      { guest: 'user-1' },
    ]);
  });

  it('include address and program of a request with a signed link, which belong to the person of the link', async () => {
    const accessor = { id: 'system', type: 'system', name: 'signed link' };
    const linked = { ...by('user-1', 'ada l.'), accessor, linkOf: 'user-1' };
    await sign(struck('nobody'), linked);
    expect(await log()).not.toMatch(PERSONAL);
    expect((await store.log.stream('book-1'))[0]?.context).toEqual(linked);
    await strike('user-1');
    await sign(struck('nobody'), linked, openStore());
    const nothing = { request: { id: 'r', address: null, userAgent: null } };
    const events = await openStore().log.stream('book-1');
    expect(events.map(({ context: { request } }) => ({ request }))).toEqual([nothing, expect.anything(), nothing]);
    expect(await log()).not.toMatch(PERSONAL);
  });

  it('are not written for a forgotten person who never had a key', async () => {
    await strike('user-9');
    expect(isVersionConflictError(await failureOf(sign(signed('user-9', 'ada l.'), by('user-2', 'bob'))))).toBe(true);
    await sign(signedById('user-9'), by('user-2', 'bob'));
    expect(await log()).not.toMatch(PERSONAL);
  });

  it('delay the forgetting of their person until they are written', async () => {
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    await client.query('begin');
    await client.query(`select event_store.hold_people('{user-1}', '{}', '{}')`);
    const otherClient = await testStore.connect();
    const struck = strike('user-1').then(() => 'struck');
    const waiting = async (): Promise<boolean> =>
      (await otherClient.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).rowCount === 1;
    while (!(await waiting())) await new Promise((resolve) => setTimeout(resolve, 5));
    await client.query('commit');
    expect(await struck).toBe('struck');
  });

  it('may look like encrypted texts', async () => {
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    const [{ data }] = (await client.query('select data from event_store.events')).rows as [{ data: { name: string } }];
    for (const like of [data.name, '~sealed:n:user-1:AAAA', '~sealed:']) {
      await sign(signed('user-2', like, like), by('user-2', like));
      expect((await openStore().log.stream('book-1')).at(-1)?.data).toMatchObject({ name: like, words: like });
    }
  });

  it('stay plain until the person is forgotten if they were stored before there were keys', async () => {
    const old = JSON.stringify([
      { ...signed('user-1', 'ada l.'), id: '0190f3a0-0000-7000-9000-000000000001', schemaVersion: 1 },
    ]);
    await client.query(`select event_store.append('book-1', 0, null, now(), $1, $2, null, null)`, [
      by('user-1', 'ada l.'),
      old,
    ]);
    expect((await store.log.stream('book-1'))[0]).toMatchObject({
      data: { name: 'ada l.' },
      context: by('user-1', 'ada l.'),
    });
    await strike('user-1');
    expect((await store.log.stream('book-1'))[0]).toMatchObject({
      data: { name: 'user-1', from: null },
      context: { accessor: { name: 'user-1' }, request: { address: null } },
    });
  });
});

describe.each([
  [
    'that knows the key of the person',
    async (on: EventStore) => void (await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'), on)),
  ],
  ['that does not know the person', () => Promise.resolve()],
  ['that knows that the person was forgotten', async (on: EventStore) => void (await strike('user-1', on))],
])('a decision that contains texts of a person who was forgotten meanwhile, in a process %s', (_, before) => {
  let otherStore: EventStore;
  let length: number;

  beforeEach(async () => {
    otherStore = openStore();
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    await before(otherStore);
    await strike('user-1');
    length = (await store.log.stream('book-1')).length;
  });

  const written = async (): Promise<readonly RecordedEvent[]> => (await openStore().log.stream('book-1')).slice(length);

  it('fails as a version conflict until it names the person by id', async () => {
    for (const storedText of [
      signed('user-1', 'ada l.', 'hello', null),
      signed('user-1', 'user-1'),
      signed('user-1', 'ada l.'),
    ]) {
      const error = await failureOf(sign(storedText, by('user-2', 'bob'), otherStore));
      expect([isVersionConflictError(error), isForgottenPersonError(error)]).toEqual([true, true]);
    }
    await sign(signedById('user-1'), by('user-2', 'bob'), otherStore);
    expect((await written()).map(({ data }) => data)).toEqual([signedById('user-1').data]);
    expect(await log()).not.toMatch(PERSONAL);
  });

  it('is refused as unauthorized if the forgotten person is the caller, also under their id', async () => {
    for (const name of ['ada l.', 'user-1']) {
      await expect(sign(signed('user-2', 'bob'), by('user-1', name), otherStore)).rejects.toMatchObject({
        code: 'CA401',
      });
    }
    expect(await written()).toEqual([]);
  });

  const createRead = (writer: string | null, accessor: string, n: number) => ({
    stream: `once/${accessor}`,
    organization: null,
    writer,
    events: [{ ...struck('nobody'), id: `0190f3a0-0000-7000-9000-00000000000${n}`, context: by(accessor, 'ada l.') }],
  });

  it('is refused as unauthorized if the forgotten person is one of several recorded readers', async () => {
    const both = otherStore.appendOnce([createRead('user-2', 'user-2', 1), createRead('user-1', 'user-1', 2)]);
    await expect(both).rejects.toMatchObject({ code: 'CA401' });
  });

  it('is recorded under the id of the person if another writer reports it', async () => {
    const append = () => otherStore.appendOnce([createRead(null, 'user-1', 1)]);
    expect((await otherStore.retryOnConflict(append)).size).toBe(1);
    expect((await otherStore.log.stream('once/user-1'))[0]?.context).toEqual({
      ...by('user-1', 'user-1'),
      request: { id: 'r', address: null, userAgent: null },
    });
    expect(await log()).not.toMatch(PERSONAL);
  });
});

describe('JSON that contains encrypted texts', () => {
  it('is decrypted wherever the texts are, if this installation encrypted them', async () => {
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    await sign(signed('user-2', 'bob'), by('user-2', 'bob'));
    const [first, second] = await readOn(store, LOG_START, 10, { keepEncrypted: true });
    const document = { list: [first?.data, { deep: second?.context }], mine: '~sealed:n:user-1:AAAA', n: 1, no: null };
    const [opened] = await openStore().personalDataCipher.openIn([document]);
    const bobs = { deep: by('user-2', 'bob') };
    expect(opened).toEqual({ ...document, list: [signed('user-1', 'ada l.').data, bobs] });
    await strike('user-1');
    const [documentAfter] = await openStore().personalDataCipher.openIn([document]);
    const forgotten = { guest: 'user-1', name: 'user-1', from: null, words: 'hello' };
    expect(documentAfter).toEqual({ ...document, list: [forgotten, bobs] });
  });

  it('is decrypted as text in the same way as parsed values', async () => {
    await sign(signed('user-1', 'ada "the\\first"\n'), by('user-1', 'ada l.'));
    await sign(signed('u"s\\er-2', 'bob'), by('user-2', 'bob'));
    const [first, second] = (await readOn(store, LOG_START, 10, { keepEncrypted: true })) as [
      RecordedEvent,
      RecordedEvent,
    ];
    const { name } = first.data as { name: string };
    const { name: odd } = second.data as { name: string };
    const documents = [
      { a: name, b: { c: odd, d: [name, first.context, second.data] }, n: 1, no: null, yes: true },
      {
        [name]: 'is the name of a member',
        e: `says "${name}`,
        f: `"${name}"`,
        g: `\\"${name}`,
        h: `${name}"`,
        i: '\\',
      },
      { '~sealed:': name, '~sealed:n:user-1:AAAA': '~sealed:n:user-1:AAAA', j: '~sealed:d:x:"\\', k: ['~sealed:'] },
      `x${name}`,
      name,
    ];
    for (const forgotten of [false, true]) {
      if (forgotten) await strike('user-1');
      const opened = await openStore().personalDataCipher.openIn(documents);
      for (const indent of [0, 1]) {
        const texts = documents.map((value) => JSON.stringify(value, null, indent));
        for (const [n, text] of texts.entries()) {
          expect(JSON.parse(await openStore().personalDataCipher.openInText(text))).toEqual(opened[n]);
        }
        const lines = await openStore().personalDataCipher.openInText(texts.join('\n'));
        const [all] = await openStore().personalDataCipher.openIn([documents]);
        expect(lines).toBe(texts.map((_, n) => JSON.stringify((all as unknown[])[n], null, indent)).join('\n'));
      }
    }
  });
});

describe('the keys of people', () => {
  it('are created once if several transactions need one at the same time', async () => {
    const stores = Array.from({ length: 5 }, openStore);
    await Promise.all(
      stores.map((each, n) => sign(signed('user-1', 'ada l.'), by(`user-${n}`, 'x'), each, `book-${n}`)),
    );
    for (const n of stores.keys()) {
      expect((await openStore().log.stream(`book-${n}`))[0]?.data).toMatchObject({ name: 'ada l.' });
    }
  });

  it('are stored encrypted, and cannot be decrypted with another encryption key', async () => {
    await sign(signed('user-1', 'ada l.'), by('user-1', 'ada l.'));
    const otherKeys = new EncryptionKeys(Buffer.alloc(32, 2));
    const otherStore = new EventStore(testStore.database, kinds, [], CLOCK, IDS, otherKeys);
    await expect(otherStore.log.stream('book-1')).rejects.toThrow('encrypted with another encryption key');
  });

  it('are inserted by the transaction that creates the user, without a further round trip, or not at all', async () => {
    const createUser = (stream: string) =>
      store.append(
        [{ stream, organization: null, expected: 0, events: [signed(stream, 'ada l.')] }],
        { ...context, accessor: { id: 'system', type: 'system', name: 'us' } },
        stream === 'user-2' ? [sql`select 1 / 0`] : [],
      );
    const before = testStore.database.count.roundTrips;
    await createUser('user-1');
    expect(testStore.database.count.roundTrips - before).toBe(1);
    await expect(createUser('user-2')).rejects.toThrow('division by zero');
    const { rows } = await client.query('select person from event_store.person_keys');
    expect(rows).toEqual([{ person: 'user-1' }]);
    expect((await store.log.stream('user-1'))[0]?.data).toMatchObject({ name: 'ada l.' });
  });
});
