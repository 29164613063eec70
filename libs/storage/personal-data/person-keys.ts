import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sql, type Sql } from '#platform/kernel';
import { castRows, type Database, type QueryRunner } from '#platform/postgres';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { InstallationMac, PersonKey, type TextCache } from './encrypted-texts.js';

/** The keys of people by id. Null if the person has been forgotten; missing if the person has no key. */
export type Keyring = ReadonlyMap<string, PersonKey | null>;

type KeyRow = { readonly person: string; readonly key: Buffer | null };

/** The limit for one process. */
const MAX_CACHED_KEYS = 10_000;
const KEY_LENGTH = 32;

/**
 * The keys that encrypt texts of people: one random key for each person, created when it is first needed and deleted
 * when the person is forgotten.
 */
export class PersonKeys {
  readonly installationMac: InstallationMac;
  private readonly envelope: Envelope;
  private readonly cache = new LRUCache<string, { readonly key: PersonKey | null }>({ max: MAX_CACHED_KEYS });
  private readonly recent: TextCache = { encrypted: new Map(), opened: new Map() };

  constructor(
    private readonly database: Database,
    encryptionKeys: EncryptionKeys,
  ) {
    this.envelope = new Envelope(encryptionKeys, 'person keys');
    this.installationMac = new InstallationMac(encryptionKeys);
  }

  /**
   * Returns keys for encryption, and creates the missing ones. Cached keys may be outdated: see hold_people in
   * sql/003_person_keys.sql.
   */
  loadKeys(people: ReadonlySet<string>): Promise<Keyring> {
    return this.loadMissing(people, async (missing) => {
      const rows: KeyRow[] = [];
      for (let remaining = missing; remaining.length > 0; remaining = excludePeopleWithKey(remaining, rows)) {
        const newKeys = remaining.map((person) => this.envelope.encrypt(person, randomBytes(KEY_LENGTH)));
        // The loop repeats if another transaction creates a key at the same time: this statement does not see that row
        // yet.
        const keyRows = await this.database.rows<KeyRow>(sql`
          with made as (
            insert into event_store.person_keys (person, key)
            select * from unnest(${remaining}::text[], ${newKeys}::bytea[]) on conflict do nothing returning person, key)
          select person, key from made
          union all select person, key from event_store.person_keys where person = any (${remaining}::text[])`);
        rows.push(...keyRows);
      }
      return rows;
    });
  }

  /** Returns a key for a user who is created in the transaction. It is cached only after the commit. */
  fresh(person: string): PersonKey {
    return new PersonKey(person, randomBytes(KEY_LENGTH), this.installationMac, this.recent);
  }

  insertKeys(fresh: Keyring): Sql {
    const rows = [...fresh].flatMap(([person, key]) =>
      key ? [[person, this.envelope.encrypt(person, key.bytes)]] : [],
    );
    return sql`insert into event_store.person_keys (person, key)
               select * from unnest(${rows.map(([person]) => person)}::text[], ${rows.map(([, key]) => key)}::bytea[])`;
  }

  /**
   * Returns keys for decryption, for a reader that follows the log in order and reports forgotten people with `became`.
   */
  following(people: ReadonlySet<string>, run: QueryRunner): Promise<Keyring> {
    return this.loadMissing(people, async (missing) => castRows<KeyRow>(await run(select(missing))));
  }

  /** Returns the present keys for decryption, without the cache. */
  async current(people: ReadonlySet<string>, run: QueryRunner): Promise<Keyring> {
    if (people.size === 0) return new Map();
    return new Map(castRows<KeyRow>(await run(select([...people]))).map((row) => [row.person, this.keyIn(row)]));
  }

  became(keys: Keyring): void {
    for (const [person, key] of keys) this.cache.set(person, { key });
  }

  /** Drops cached keys that may be outdated. */
  doubt(people: Iterable<string>): void {
    for (const person of people) this.cache.delete(person);
  }

  private async loadMissing(
    people: ReadonlySet<string>,
    read: (missing: readonly string[]) => Promise<readonly KeyRow[]>,
  ): Promise<Keyring> {
    const keyring = new Map<string, PersonKey | null>();
    const missing: string[] = [];
    for (const person of people) {
      const cached = this.cache.get(person);
      if (cached) keyring.set(person, cached.key);
      else missing.push(person);
    }
    if (missing.length === 0) return keyring;
    const readKeys = new Map((await read(missing)).map((row) => [row.person, this.keyIn(row)]));
    this.became(readKeys);
    return new Map([...keyring, ...readKeys]);
  }

  private keyIn({ person, key }: KeyRow): PersonKey | null {
    return key === null
      ? null
      : new PersonKey(person, this.envelope.open(person, key), this.installationMac, this.recent);
  }
}

const excludePeopleWithKey = (people: readonly string[], rows: readonly KeyRow[]): readonly string[] => {
  const peopleWithKey = new Set(rows.map(({ person }) => person));
  return people.filter((person) => !peopleWithKey.has(person));
};

const select = (people: readonly string[]): Sql =>
  sql`select person, key from event_store.person_keys where person = any (${people}::text[])`;
