import { sql, type EventRegistry, type PersonalText, type Sql } from '#kernel';
import type { Database } from './database.js';
import type { Row } from './row.js';
import { TAKE_NAMES } from './names.js';
import { PersonKeys, type Keyring } from './person-keys.js';
import {
  eachTextIn,
  peopleIn,
  replaced,
  replacedIn,
  replaceIn,
  textsOf,
  whomDataTells,
  whoseContexts,
  type Texts,
  type Told,
} from './personal-texts.js';
import { hasLostSomebody } from './postgres-errors.js';
import { claimOf, isSealed, placeholderOf, SEALED_IN_JSON, type PersonKey } from './sealed-texts.js';

/** Events that are to be written, as views may show them and as the log keeps them; and what goes with their transaction. */
export type Sealed<E> = {
  readonly shown: readonly E[];
  readonly kept: readonly E[];
  /** Goes first: nobody whom they name is forgotten meanwhile. */
  readonly holding: readonly Sql[];
  /** Goes last: whose key comes with them, and whose goes. */
  readonly keys: readonly Sql[];
  /** To be told how the transaction ended: with which error, or with none. */
  readonly ended: (error?: unknown) => void;
};

type Circumstances = {
  /** Streams that begin with these events: who has one is known to nobody yet. */
  readonly born: ReadonlySet<string>;
  /** People whose names are written beside the log, in a snapshot. */
  readonly named: readonly string[];
  /** Who does it themselves. */
  readonly writers: readonly string[];
};

type Run = (statement: Sql) => Promise<Row[]>;

/** Seals the texts of people on their way into the log, and opens them on their way out, for as long as there is a key (ADR 25). */
export class Seals {
  private readonly keys: PersonKeys;

  constructor(
    private readonly database: Database,
    private readonly kinds: EventRegistry,
    encryptionKey: Buffer,
  ) {
    this.keys = new PersonKeys(database, encryptionKey);
  }

  async seal<E extends Told>(events: readonly E[], { born, named, writers }: Circumstances): Promise<Sealed<E>> {
    const told = textsOf(this.kinds, events);
    const people = peopleIn(told);
    const forgotten = new Set(this.forgottenBy(events));
    const newborn = new Map([...people].filter((id) => born.has(id)).map((id) => [id, this.keys.fresh(id)]));
    const known = await this.keys.wanted(new Set([...people].filter((id) => !newborn.has(id) && !forgotten.has(id))));
    const ring: Keyring = new Map([...known, ...newborn]);
    // Of who is no writer it is only told that they did it, which may come when they have been forgotten.
    const doing = whoseContexts(told).filter((id) => ring.get(id) || writers.includes(id));
    const held = new Set(
      [...named, ...doing, ...whomDataTells(events, told)].filter((id) => !forgotten.has(id) && !newborn.has(id)),
    );
    // Whom nobody knows any more, and whom nobody is to know after this, views must not show either.
    const shown = events.map((event, n) =>
      replaced(event, told[n] as Texts, (text, of) => (ring.get(of.person) ? text : placeholderOf(of))),
    );
    const kept = shown.map((event, n) =>
      // By their own id they are called because they had been forgotten when it was decided, or because it is their name.
      replaced(event, told[n] as Texts, (text, { kind, person }) =>
        kind === 'name' && text === person ? text : (ring.get(person)?.seal(kind, text) ?? text),
      ),
    );
    return {
      shown,
      kept,
      holding: holding(held, forgotten, writers),
      keys: [...(newborn.size > 0 ? [this.keys.keep(newborn)] : []), ...[...forgotten].map(forget)],
      ended: (error) => {
        if (error === undefined) this.keys.became(new Map([...newborn, ...gone(forgotten)]));
        else if (hasLostSomebody(error)) this.keys.doubt(held);
      },
    };
  }

  /** For who reads the log in its order, and so comes past every event that forgets somebody: with what is remembered until then. */
  follow<E extends Told>(events: readonly E[], run: Run): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.following(people, run));
  }

  /** For who reads events in any other way, or tells them to others: with the keys that there are now. */
  open<E extends Told>(events: readonly E[], run = this.run): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.current(people, run));
  }

  /** Events that forget somebody have been read: what is remembered of them must not be used any more. */
  passed(events: readonly Told[]): void {
    this.keys.became(gone(this.forgottenBy(events)));
  }

  /** The same in any JSON that was made of sealed events, with one statement for all. Texts of people's own are left alone. */
  async openIn<T>(values: readonly T[]): Promise<readonly T[]> {
    const texts = new Set<string>();
    eachTextIn(values, (text) => {
      if (isSealed(text)) texts.add(text);
    });
    const open = await this.opener(texts);
    return open === null ? values : values.map((value) => replacedIn(value, open) as T);
  }

  /** The same in JSON that is a text still, for who has no use for its values. */
  async openInText(json: string): Promise<string> {
    const texts = new Map(
      [...new Set(json.match(SEALED_IN_JSON))].map((string) => [string, JSON.parse(string) as string]),
    );
    const open = await this.opener(texts.values());
    return open === null
      ? json
      : json.replace(SEALED_IN_JSON, (string) => JSON.stringify(open(texts.get(string) as string)));
  }

  /** What such texts become, with the keys that there are now; null where none of them claims to be sealed. */
  private async opener(texts: Iterable<string>): Promise<((text: string) => string | null) | null> {
    const people = new Set([...texts].flatMap((text) => claimOf(text)?.person ?? []));
    if (people.size === 0) return null;
    const ring = await this.keys.current(people, this.run);
    return (text) => {
      const claim = isSealed(text) ? claimOf(text) : null;
      if (!claim) return text;
      const key = ring.get(claim.person);
      if (key) return key.open(text) ?? text;
      return this.keys.house.isOn(text) ? placeholderOf(claim) : text;
    };
  }

  private readonly run: Run = (statement) => this.database.rows(statement);

  /** In the events themselves: they come from the database, and nobody else has them yet. */
  private async openWith<E extends Told>(
    events: readonly E[],
    find: (people: ReadonlySet<string>) => Promise<Keyring>,
  ): Promise<readonly E[]> {
    const told = textsOf(this.kinds, events);
    const people = peopleIn(told);
    if (people.size === 0) return events;
    const ring = await find(people);
    const open = (text: string, of: PersonalText): string | null => opened(text, of, ring.get(of.person));
    for (const [n, event] of events.entries()) replaceIn(event, told[n] as Texts, open);
    return events;
  }

  private forgottenBy(events: readonly Told[]): readonly string[] {
    return events.flatMap((event) => this.kinds[event.type]?.forgets?.(event.data as never, event) ?? []);
  }
}

/** Texts of the time before there were keys are not sealed; they are not shown either once it is known that somebody is forgotten. */
const opened = (text: string, of: PersonalText, key: PersonKey | null | undefined): string | null => {
  if (key) return isSealed(text) ? (key.open(text) ?? text) : text;
  return key === null || isSealed(text) ? placeholderOf(of) : text;
};

const gone = (people: Iterable<string>): Keyring => new Map([...people].map((person) => [person, null]));

const forget = (person: string): Sql => sql`select event_store.forget_person(${person})`;

const holding = (
  held: ReadonlySet<string>,
  forgotten: ReadonlySet<string>,
  writers: readonly string[],
): readonly Sql[] =>
  held.size + forgotten.size === 0
    ? []
    : [
        ...(forgotten.size > 0 ? [TAKE_NAMES] : []),
        sql`select event_store.hold_people(${[...held]}::text[], ${[...forgotten]}::text[], ${writers}::text[])`,
      ];
