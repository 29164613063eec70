import pg from 'pg';
import {
  conflict,
  Ids,
  defineEvents,
  sql,
  type Clock,
  type DataOf,
  type Decider,
  type EventContext,
  type Message,
  type Projection,
  type Sql,
} from '#platform/kernel';
import { EncryptionKeys } from '#platform/encryption';
import { Database } from '#platform/postgres';
import { EventStore } from './event-store.js';
import { buildWriterRegistration } from './rebuild/view-versions.js';
import { listViews } from './rebuild/views.js';
import { defineAggregate, toProjection, type ModuleDefinition } from './module-definition.js';

/** Events of a lamp, to test the log without a real module. */
export type TestLampEvent = Message<'LampHung', { room: string; watts: number }> | Message<'LampLit', { by: string }>;

type LampCommand = Message<'HangLamp', { room: string; watts: number }> | Message<'LightLamp', { by: string }>;

type Lamp = { readonly hung: boolean; readonly watts: number; readonly litBy: string | null };

export const lamp: Decider<Lamp, LampCommand, TestLampEvent> = {
  version: 2,
  initial: { hung: false, watts: 0, litBy: null },
  decide: {
    HangLamp: ({ room, watts }) => [{ type: 'LampHung', data: { room, watts } }],
    LightLamp: ({ by }, { litBy }) => {
      if (litBy === by) return [];
      if (litBy !== null) throw conflict(`lit by ${litBy}`);
      return [{ type: 'LampLit', data: { by } }];
    },
  },
  evolve: {
    LampHung: ({ watts }, state) => ({ ...state, hung: true, watts }),
    LampLit: ({ by }, state) => ({ ...state, litBy: by }),
  },
};

/** Returns a strict schema like the zod schemas of modules. */
const createStrictSchema = <T>(...fields: readonly string[]) => ({
  parse: (data: unknown): T => {
    const unknown = Object.keys(data as object).filter((key) => !fields.includes(key));
    if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}`);
    return data as T;
  },
});

/** An event from outside, which no view shows. */
type SeenEvent = Message<'LampSeen', { by: string }>;

const audit = { unaudited: 'a sample' };
const kinds = defineEvents(
  { topic: 'lamps', stream: 'lamp', live: { unsent: 'a sample' } },
  {
    LampHung: {
      schemaVersion: 2,
      schema: createStrictSchema<DataOf<TestLampEvent, 'LampHung'>>('room', 'watts'),
      audit,
      upcast: { 1: [{ add: { watts: 40 } }] },
    },
    LampLit: { schema: createStrictSchema<DataOf<TestLampEvent, 'LampLit'>>('by'), audit },
    LampSeen: { schema: createStrictSchema<SeenEvent['data']>('by'), audit },
  },
);

export const lamps: Projection<TestLampEvent> = {
  name: 'lamps',
  version: 1,
  tables: ['lamps'],
  on: {
    LampHung: ({ room, watts }, { stream }) =>
      sql`insert into lamps (id, room, watts, lit_by) values (${stream}, ${room}, ${watts}, null)`,
    LampLit: ({ by }, { stream }) => sql`update lamps set lit_by = ${by} where id = ${stream}`,
  },
};

export const lampDefinition: ModuleDefinition = {
  name: 'lamps',
  kinds,
  aggregates: [defineAggregate('lamp', lamp)],
  projections: [toProjection(lamps)],
  followers: [],
  migrations: null,
};

export const TEST_ENCRYPTION_KEYS = new EncryptionKeys(Buffer.alloc(32, 1));

export const TABLES = `
  create table views.lamps (
    id text primary key, room text not null constraint lamps_room_key unique, watts integer not null, lit_by text);
  create table views.sightings (position bigint not null, event uuid not null, stream text not null)`;

export const NOW = new Date('2026-11-21T12:00:00.000Z');
export const CLOCK: Clock = { now: () => NOW };

export class CountedIds extends Ids {
  private count = 0;

  /** `process` distinguishes the ids of several stores on one log. */
  constructor(private readonly process = 0) {
    super();
  }

  override next(prefix: string): string {
    return `${prefix}-${(this.count += 1)}`;
  }
  override uuid(): string {
    return `0190f3a0-${this.process.toString(16).padStart(4, '0')}-7000-8000-${(this.count += 1).toString(16).padStart(12, '0')}`;
  }
  override secret(): string {
    return this.next('secret');
  }
}

export const context: EventContext = {
  accessor: { id: 'user-1', type: 'users', name: 'ada' },
  auth: 'Client',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: '',
  causation: null,
};

export const lampHung = (room: string, watts = 40): TestLampEvent => ({ type: 'LampHung', data: { room, watts } });
export const createLampLit = (by: string): TestLampEvent => ({ type: 'LampLit', data: { by } });

/** An event store on a migrated and otherwise empty database, with further connections for tests. */
export class TestEventStore {
  private static processes = 0;
  readonly store: EventStore;
  readonly database: Database;
  private readonly clients: pg.Client[] = [];

  private constructor(
    private readonly url: string,
    { kinds, projections }: ModuleDefinition,
    writerRegistration?: Sql,
  ) {
    this.database = new Database({
      url,
      connections: 3,
      applicationName: 'lamp house',
      ...(writerRegistration ? { writerRegistration } : {}),
    });
    const ids = new CountedIds((TestEventStore.processes += 1));
    this.store = new EventStore(this.database, kinds, projections, CLOCK, ids, TEST_ENCRYPTION_KEYS);
  }

  static async over(url: string): Promise<TestEventStore> {
    const testStore = new TestEventStore(url, lampDefinition);
    await (await testStore.connect()).query(TABLES);
    return testStore;
  }

  /** Creates a store like a process of another version, on a database that already has the tables. */
  static ofVersion(url: string, definition: ModuleDefinition): TestEventStore {
    return new TestEventStore(url, definition, buildWriterRegistration(listViews([definition])));
  }

  /** Opens a connection for the test itself, for example to keep transactions open. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    // Some tests cut connections; the next query reports the error.
    client.on('error', () => undefined);
    await client.connect();
    this.clients.push(client);
    return client;
  }

  append(stream: string, expected: number | 'any', ...events: readonly TestLampEvent[]) {
    return this.store.append([{ stream, organization: 'org-1', expected, events }], context);
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.end()));
    await this.database.close();
  }
}

/** Appends on a connection of the test, within its open transaction. */
export const appendOn = async (client: pg.Client, stream: string, id: string, by = 'ada'): Promise<void> => {
  const events = JSON.stringify([{ id, type: 'LampLit', schemaVersion: 1, data: { by } }]);
  await client.query('select event_store.append($1, null, null, now(), $2, $3, null, null)', [stream, context, events]);
};

export const waitForCondition = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
};
