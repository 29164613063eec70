import { sql, type EventRegistry, type PersonalText, type Sql } from '#kernel';
import type { Database, Row } from './database.js';
import { PersonKeys, type Keyring } from './person-keys.js';
import {
  eachTextIn,
  peopleIn,
  replaced,
  replacedIn,
  replaceIn,
  textsOf,
  type Texts,
  type Told,
} from './personal-texts.js';
import { hasLostSomebody } from './postgres-errors.js';
import { claimOf, isSealed, placeholderOf, type PersonKey } from './sealed-texts.js';

/** Events that are to be written: as views may show them, and as the log keeps them. */
export type Sealed<E> = {
  readonly shown: readonly E[];
  readonly kept: readonly E[];
  /** Before and after what the transaction writes. */
  readonly before: readonly Sql[];
  readonly after: readonly Sql[];
  /** Whether it was committed, or how it failed. */
  readonly committed: () => void;
  readonly failed: (error: unknown) => void;
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

  /**
   * `born` are streams that begin with these events: who has one is known to nobody yet. `named` are people whose names
   * are written beside the log, in a snapshot. `writer` is who does it.
   */
  async seal<E extends Told>(
    events: readonly E[],
    {
      born,
      named,
      writer,
    }: { readonly born: ReadonlySet<string>; readonly named: readonly string[]; readonly writer: string | null },
  ): Promise<Sealed<E>> {
    const told = textsOf(this.kinds, events);
    const people = peopleIn(told);
    const forgotten = new Set(this.forgottenBy(events));
    const newborn = new Map([...people].filter((id) => born.has(id)).map((id) => [id, this.keys.fresh(id)]));
    const known = await this.keys.wanted(new Set([...people].filter((id) => !newborn.has(id) && !forgotten.has(id))));
    const ring: Keyring = new Map([...known, ...newborn]);
    const held = new Set(named.filter((id) => !forgotten.has(id) && !newborn.has(id)));
    // Whom nobody knows any more, and whom nobody is to know after this, views must not show either.
    const shown = events.map((event, n) =>
      replaced(event, told[n] as Texts, (text, of) => (ring.get(of.person) ? text : placeholderOf(of))),
    );
    const kept = shown.map((event, n) =>
      replaced(event, told[n] as Texts, (text, { kind, person }) => {
        const key = ring.get(person);
        // By their own id they are called because they had been forgotten when it was decided, or because it is their name.
        if (!key || (kind === 'name' && text === person)) return text;
        if (!newborn.has(person)) held.add(person);
        return key.seal(kind, text);
      }),
    );
    return {
      shown,
      kept,
      before: holding(held, forgotten, writer),
      after: [...(newborn.size > 0 ? [this.keys.keep(newborn)] : []), ...[...forgotten].map(forget)],
      committed: () => {
        this.keys.became(newborn);
        this.keys.became(gone(forgotten));
      },
      failed: (error) => {
        if (hasLostSomebody(error)) this.keys.doubt(held);
      },
    };
  }

  /** For who has read the log in its order, and so comes past every event that forgets somebody. */
  async follow<E extends Told>(events: readonly E[], run: Run): Promise<readonly E[]> {
    const opened = await this.openWith(events, (people) => this.keys.following(people, run));
    this.passed(events);
    return opened;
  }

  /** Events that forget somebody have been read: what is remembered of them must not be used any more. */
  passed(events: readonly Told[]): void {
    this.keys.became(gone(this.forgottenBy(events)));
  }

  /** For who has read events in any other way: with the keys that there are now. */
  open<E extends Told>(events: readonly E[]): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.current(people, this.run));
  }

  /** The same in any JSON that was made of sealed events, with one statement for all. Texts of people's own are left alone. */
  async openIn<T>(values: readonly T[]): Promise<readonly T[]> {
    const people = new Set<string>();
    eachTextIn(values, (text) => {
      const claim = isSealed(text) ? claimOf(text) : null;
      if (claim) people.add(claim.person);
    });
    if (people.size === 0) return values;
    const ring = await this.keys.current(people, this.run);
    const open = (text: string): string | null => {
      const claim = isSealed(text) ? claimOf(text) : null;
      if (!claim) return text;
      const key = ring.get(claim.person);
      if (key) return key.open(text) ?? text;
      return this.keys.house.isOn(text) ? placeholderOf(claim) : text;
    };
    return values.map((value) => replacedIn(value, open) as T);
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

const holding = (held: ReadonlySet<string>, forgotten: ReadonlySet<string>, writer: string | null): readonly Sql[] =>
  held.size + forgotten.size === 0
    ? []
    : [sql`select event_store.hold_people(${[...held]}::text[], ${[...forgotten]}::text[], ${writer})`];
