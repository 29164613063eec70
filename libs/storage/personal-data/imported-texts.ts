import { sql, type EventRegistry, type Sql } from '#platform/kernel';
import type { QueryRunner } from '#platform/postgres';
import { encryptTexts } from './encrypted-events.js';
import type { PersonKey } from './encrypted-texts.js';
import { ACQUIRE_SHARED_NAMES_XACT_LOCK } from './name-columns.js';
import type { PersonKeys } from './person-keys.js';
import { findPersonalTexts, listPeople, type EventContent } from './personal-texts.js';

/**
 * Encrypts the texts of events that another site recorded, page by page, before one transaction appends all of them.
 * People of this site keep their keys. Others get new ones, which the transaction stores. People that one of the two
 * sites has forgotten stay forgotten.
 */
export class ImportedTexts {
  private readonly keyring = new Map<string, PersonKey | null>();
  private readonly newKeys = new Map<string, PersonKey>();
  /** People of this site with a key. */
  private readonly guarded = new Set<string>();

  constructor(
    private readonly keys: PersonKeys,
    private readonly kinds: EventRegistry,
    private readonly forgotten: ReadonlySet<string>,
    private readonly run: QueryRunner,
  ) {}

  /** Returns the events as views show them and as the log stores them. */
  async encrypt<E extends EventContent>(
    events: readonly E[],
  ): Promise<{ readonly readableEvents: readonly E[]; readonly eventsToStore: readonly E[] }> {
    const texts = findPersonalTexts(this.kinds, events);
    await this.loadKeys([...listPeople(texts)].filter((person) => !this.keyring.has(person)));
    return encryptTexts(events, texts, this.keyring);
  }

  /**
   * Returns the first statements of the transaction. They raise a version conflict if a person was forgotten since the
   * key was read, and ensure that nobody is forgotten before the end of the transaction.
   */
  buildGuards(): readonly Sql[] {
    return [
      ACQUIRE_SHARED_NAMES_XACT_LOCK,
      sql`select event_store.stale_when(exists (
            select from event_store.person_keys where person = any (${[...this.guarded]}::text[]) and key is null))`,
    ];
  }

  /** Returns the statements that store the keys of new people, and record who was forgotten. */
  buildKeyInserts(): readonly Sql[] {
    return [
      this.keys.insertKeys(this.newKeys),
      sql`insert into event_store.person_keys (person, key, cleaned_at)
          select person, null, now() from unnest(${[...this.forgotten]}::text[]) person
          on conflict (person) do nothing`,
    ];
  }

  private async loadKeys(people: readonly string[]): Promise<void> {
    const present = await this.keys.current(new Set(people), this.run);
    for (const person of people) {
      const key = present.get(person);
      if (key) this.guarded.add(person);
      if (key !== undefined) this.keyring.set(person, key);
      else if (this.forgotten.has(person)) this.keyring.set(person, null);
      else this.addKey(person);
    }
  }

  private addKey(person: string): void {
    const key = this.keys.fresh(person);
    this.newKeys.set(person, key);
    this.keyring.set(person, key);
  }
}
