import { sql, type EventRegistry, type PersonalText, type Sql } from '#kernel';
import { isForgottenPersonError, type Database, type QueryRunner } from '#postgres';
import { ACQUIRE_NAMES_LOCK } from './name-columns.js';
import { PersonKeys, type Keyring } from './person-keys.js';
import {
  forEachString,
  listPeople,
  replaceTexts,
  mapStrings,
  replaceTextsInPlace,
  findPersonalTexts,
  listPeopleNamedInData,
  listContextPeople,
  type EventPersonalTexts,
  type EventContent,
} from './personal-texts.js';
import {
  parseEncryptedTextHeader,
  isEncryptedText,
  getPlaceholder,
  ENCRYPTED_TEXT_IN_JSON,
  type PersonKey,
} from './encrypted-texts.js';

/** Events that are to be written, as views may show them and as the log keeps them; and what goes with their transaction. */
export type EncryptedEvents<E> = {
  readonly shown: readonly E[];
  readonly kept: readonly E[];
  /** Goes first: nobody whom they name is forgotten meanwhile. */
  readonly holding: readonly Sql[];
  /** Goes last: whose key comes with them, and whose goes. */
  readonly keys: readonly Sql[];
  /** To be told how the transaction ended: with which error, or with none. */
  readonly ended: (error?: unknown) => void;
};

type EncryptionContext = {
  /** Streams that begin with these events: who has one is known to nobody yet. */
  readonly born: ReadonlySet<string>;
  /** People whose names are written beside the log, in a snapshot. */
  readonly named: readonly string[];
  /** Who does it themselves. */
  readonly writers: readonly string[];
};

/** Seals the texts of people on their way into the log, and opens them on their way out, for as long as there is a key (ADR 25). */
export class PersonalDataCipher {
  private readonly keys: PersonKeys;

  constructor(
    private readonly database: Database,
    private readonly kinds: EventRegistry,
    encryptionKey: Buffer,
  ) {
    this.keys = new PersonKeys(database, encryptionKey);
  }

  async seal<E extends EventContent>(
    events: readonly E[],
    { born, named, writers }: EncryptionContext,
  ): Promise<EncryptedEvents<E>> {
    const told = findPersonalTexts(this.kinds, events);
    const people = listPeople(told);
    const forgotten = new Set(this.forgottenBy(events));
    const newborn = new Map([...people].filter((id) => born.has(id)).map((id) => [id, this.keys.fresh(id)]));
    const known = await this.keys.wanted(new Set([...people].filter((id) => !newborn.has(id) && !forgotten.has(id))));
    const ring: Keyring = new Map([...known, ...newborn]);
    // Of who is no writer it is only told that they did it, which may come when they have been forgotten.
    const doing = listContextPeople(told).filter((id) => ring.get(id) || writers.includes(id));
    const held = new Set(
      [...named, ...doing, ...listPeopleNamedInData(events, told)].filter(
        (id) => !forgotten.has(id) && !newborn.has(id),
      ),
    );
    // Whom nobody knows any more, and whom nobody is to know after this, views must not show either.
    const shown = events.map((event, n) =>
      replaceTexts(event, told[n] as EventPersonalTexts, (text, of) =>
        ring.get(of.person) ? text : getPlaceholder(of),
      ),
    );
    const kept = shown.map((event, n) =>
      // By their own id they are called because they had been forgotten when it was decided, or because it is their name.
      replaceTexts(event, told[n] as EventPersonalTexts, (text, { kind, person }) =>
        kind === 'name' && text === person ? text : (ring.get(person)?.seal(kind, text) ?? text),
      ),
    );
    return {
      shown,
      kept,
      holding: buildPeopleGuards(held, forgotten, writers),
      keys: [...(newborn.size > 0 ? [this.keys.keep(newborn)] : []), ...[...forgotten].map(buildForgetStatement)],
      ended: (error) => {
        if (error === undefined) this.keys.became(new Map([...newborn, ...toForgottenKeyring(forgotten)]));
        else if (isForgottenPersonError(error)) this.keys.doubt(held);
      },
    };
  }

  /** For who reads the log in its order, and so comes past every event that forgets somebody: with what is remembered until then. */
  follow<E extends EventContent>(events: readonly E[], run: QueryRunner): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.following(people, run));
  }

  /** For who reads events in any other way, or tells them to others: with the keys that there are now. */
  open<E extends EventContent>(events: readonly E[], run = this.run): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.current(people, run));
  }

  /** Events that forget somebody have been read: what is remembered of them must not be used any more. */
  passed(events: readonly EventContent[]): void {
    this.keys.became(toForgottenKeyring(this.forgottenBy(events)));
  }

  /** The same in any JSON that was made of sealed events, with one statement for all. Texts of people's own are left alone. */
  async openIn<T>(values: readonly T[]): Promise<readonly T[]> {
    const texts = new Set<string>();
    forEachString(values, (text) => {
      if (isEncryptedText(text)) texts.add(text);
    });
    const open = await this.opener(texts);
    return open === null ? values : values.map((value) => mapStrings(value, open) as T);
  }

  /** The same in JSON that is a text still, for who has no use for its values. */
  async openInText(json: string): Promise<string> {
    const texts = new Map(
      [...new Set(json.match(ENCRYPTED_TEXT_IN_JSON))].map((string) => [string, JSON.parse(string) as string]),
    );
    const open = await this.opener(texts.values());
    return open === null
      ? json
      : json.replace(ENCRYPTED_TEXT_IN_JSON, (string) => JSON.stringify(open(texts.get(string) as string)));
  }

  /** What such texts become, with the keys that there are now; null where none of them claims to be sealed. */
  private async opener(texts: Iterable<string>): Promise<((text: string) => string | null) | null> {
    const people = new Set([...texts].flatMap((text) => parseEncryptedTextHeader(text)?.person ?? []));
    if (people.size === 0) return null;
    const ring = await this.keys.current(people, this.run);
    return (text) => {
      const claim = isEncryptedText(text) ? parseEncryptedTextHeader(text) : null;
      if (!claim) return text;
      const key = ring.get(claim.person);
      if (key) return key.open(text) ?? text;
      return this.keys.house.isOn(text) ? getPlaceholder(claim) : text;
    };
  }

  private readonly run: QueryRunner = (statement) => this.database.rows(statement);

  /** In the events themselves: they come from the database, and nobody else has them yet. */
  private async openWith<E extends EventContent>(
    events: readonly E[],
    find: (people: ReadonlySet<string>) => Promise<Keyring>,
  ): Promise<readonly E[]> {
    const told = findPersonalTexts(this.kinds, events);
    const people = listPeople(told);
    if (people.size === 0) return events;
    const ring = await find(people);
    const open = (text: string, of: PersonalText): string | null => decryptText(text, of, ring.get(of.person));
    for (const [n, event] of events.entries()) replaceTextsInPlace(event, told[n] as EventPersonalTexts, open);
    return events;
  }

  private forgottenBy(events: readonly EventContent[]): readonly string[] {
    return events.flatMap((event) => this.kinds[event.type]?.forgets?.(event.data as never, event) ?? []);
  }
}

/** Texts of the time before there were keys are not sealed; they are not shown either once it is known that somebody is forgotten. */
const decryptText = (text: string, of: PersonalText, key: PersonKey | null | undefined): string | null => {
  if (key) return isEncryptedText(text) ? (key.open(text) ?? text) : text;
  return key === null || isEncryptedText(text) ? getPlaceholder(of) : text;
};

const toForgottenKeyring = (people: Iterable<string>): Keyring => new Map([...people].map((person) => [person, null]));

const buildForgetStatement = (person: string): Sql => sql`select event_store.forget_person(${person})`;

const buildPeopleGuards = (
  held: ReadonlySet<string>,
  forgotten: ReadonlySet<string>,
  writers: readonly string[],
): readonly Sql[] =>
  held.size + forgotten.size === 0
    ? []
    : [
        ...(forgotten.size > 0 ? [ACQUIRE_NAMES_LOCK] : []),
        sql`select event_store.hold_people(${[...held]}::text[], ${[...forgotten]}::text[], ${writers}::text[])`,
      ];
