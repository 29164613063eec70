import { randomBytes } from 'node:crypto';
import { sql, type Sql } from '#kernel';
import type { Database, DatabaseRow, QueryRunner } from '#postgres';
import { Envelope } from '#encryption';
import { InstallationMac, PersonKey, type TextCache } from './encrypted-texts.js';

/** The keys of people; null: they have been forgotten. Who is missing has none. */
export type Keyring = ReadonlyMap<string, PersonKey | null>;

type KeyRow = { readonly person: string; readonly key: Buffer | null };

/** In one process at a time. */
const MAX_CACHED_KEYS = 10_000;
const KEY_LENGTH = 32;

/** The keys that texts of people are sealed under: a random one each, made when it is first wanted, gone for good with them. */
export class PersonKeys {
  readonly house: InstallationMac;
  private readonly envelope: Envelope;
  private readonly known = new Map<string, PersonKey | null>();
  private readonly recent: TextCache = { sealed: new Map(), opened: new Map() };

  constructor(
    private readonly database: Database,
    encryptionKey: Buffer,
  ) {
    this.envelope = new Envelope(encryptionKey, 'person keys');
    this.house = new InstallationMac(encryptionKey);
  }

  /** To seal with: who has none gets one. What is remembered may be out of date: see hold_people in sql/003_person_keys.sql. */
  wanted(people: ReadonlySet<string>): Promise<Keyring> {
    return this.found(people, async (missing) => {
      const rows: DatabaseRow[] = [];
      for (let left = missing; left.length > 0; left = excludeFound(left, rows as KeyRow[])) {
        const made = left.map((person) => this.envelope.seal(person, randomBytes(KEY_LENGTH)));
        // Again where somebody else is making one at the same time, whose row this statement does not see yet.
        const found = await this.database.rows(sql`
          with made as (
            insert into event_store.person_keys (person, key)
            select * from unnest(${left}::text[], ${made}::bytea[]) on conflict do nothing returning person, key)
          select person, key from made
          union all select person, key from event_store.person_keys where person = any (${left}::text[])`);
        rows.push(...found);
      }
      return rows;
    });
  }

  /** For who is born in a transaction: nobody knows them yet. It is remembered only when that has been committed. */
  fresh(person: string): PersonKey {
    return new PersonKey(person, randomBytes(KEY_LENGTH), this.house, this.recent);
  }

  keep(fresh: Keyring): Sql {
    const rows = [...fresh].flatMap(([person, key]) => (key ? [[person, this.envelope.seal(person, key.bytes)]] : []));
    return sql`insert into event_store.person_keys (person, key)
               select * from unnest(${rows.map(([person]) => person)}::text[], ${rows.map(([, key]) => key)}::bytea[])`;
  }

  /** To open with, for who reads the log in its order: whoever is forgotten it is told about (`became`). */
  following(people: ReadonlySet<string>, run: QueryRunner): Promise<Keyring> {
    return this.found(people, (missing) => run(select(missing)));
  }

  /** To open with, as they are now: nothing is remembered. */
  async current(people: ReadonlySet<string>, run: QueryRunner): Promise<Keyring> {
    if (people.size === 0) return new Map();
    return new Map(((await run(select([...people]))) as KeyRow[]).map((row) => [row.person, this.keyIn(row)]));
  }

  became(keys: Keyring): void {
    for (const [person, key] of keys) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined && this.known.size >= MAX_CACHED_KEYS) this.known.delete(oldest);
      this.known.set(person, key);
    }
  }

  /** What is known of them may be out of date. */
  doubt(people: Iterable<string>): void {
    for (const person of people) this.known.delete(person);
  }

  private async found(
    people: ReadonlySet<string>,
    read: (missing: readonly string[]) => Promise<readonly DatabaseRow[]>,
  ): Promise<Keyring> {
    const ring = new Map<string, PersonKey | null>();
    const missing: string[] = [];
    for (const person of people) {
      const key = this.known.get(person);
      if (key === undefined) missing.push(person);
      else ring.set(person, key);
    }
    if (missing.length === 0) return ring;
    const now = new Map(((await read(missing)) as readonly KeyRow[]).map((row) => [row.person, this.keyIn(row)]));
    this.became(now);
    return new Map([...ring, ...now]);
  }

  private keyIn({ person, key }: KeyRow): PersonKey | null {
    return key === null ? null : new PersonKey(person, this.envelope.open(person, key), this.house, this.recent);
  }
}

const excludeFound = (people: readonly string[], rows: readonly KeyRow[]): readonly string[] => {
  const found = new Set(rows.map(({ person }) => person));
  return people.filter((person) => !found.has(person));
};

const select = (people: readonly string[]): Sql =>
  sql`select person, key from event_store.person_keys where person = any (${people}::text[])`;
