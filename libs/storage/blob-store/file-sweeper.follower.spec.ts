import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql, type Message, type RecordedEvent } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { createFileSweeper } from './file-sweeper.follower.js';

type Stored = Message<'Stored', { readonly owner: string }>;

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await freshDatabase();
  database = new Database({ url: testDatabase.url, connections: 1, applicationName: 'test' });
  await database.rows(sql`create table kept_files (id text primary key, owner text, organization text)`);
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const event = (type: string, stream: string, data: unknown = {}): RecordedEvent =>
  ({ type, stream, data, organization: 'org-acme' }) as RecordedEvent;

it('removes files of a batch only if their owner ends after them, because owners can be recovered', async () => {
  const removed: string[] = [];
  const sweeper = createFileSweeper<Stored>({
    name: 'test_sweeper',
    table: 'kept_files',
    ownerEnds: { OwnerDeleted: () => true },
    on: { Stored: ({ owner }, { stream }) => ({ stored: stream, owner }) },
    remove: async (id) => void removed.push(id),
  });
  const session = await database.session();
  const follow = async (...events: RecordedEvent[]): Promise<void> => {
    await session.pipeline(await sweeper.follow(events, session, {} as never));
  };
  await follow(event('Stored', 'earlier', { owner: 'ws-1' }));
  await follow(
    event('Stored', 'before', { owner: 'ws-1' }),
    event('OwnerDeleted', 'ws-1'),
    event('OwnerRecovered', 'ws-1'),
    event('Stored', 'after', { owner: 'ws-1' }),
  );
  expect(removed.toSorted()).toEqual(['before', 'earlier']);
  expect(await database.rows(sql`select id from kept_files`)).toEqual([{ id: 'after' }]);
  await follow(event('Stored', 'last', { owner: 'ws-1' }), event('OrganizationDeleted', 'org-acme'));
  expect(removed.slice(2).toSorted()).toEqual(['after', 'last']);
  expect(await database.rows(sql`select id from kept_files`)).toEqual([]);
  await session.close();
});
