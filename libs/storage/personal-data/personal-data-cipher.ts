import { sql, type EventRegistry, type PersonalText, type Sql } from '#platform/kernel';
import type { EncryptionKeys } from '#platform/encryption';
import { isForgottenPersonError, type Database, type QueryRunner } from '#platform/postgres';
import { ACQUIRE_NAMES_LOCK } from './name-columns.js';
import { encryptTexts } from './encrypted-events.js';
import { ImportedTexts } from './imported-texts.js';
import { PersonKeys, type Keyring } from './person-keys.js';
import {
  forEachString,
  listPeople,
  replaceTexts,
  mapStrings,
  overwriteTexts,
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
  type OpenedText,
  type PersonKey,
  type TextOpener,
} from './encrypted-texts.js';

/**
 * Events to append, as views show them and as the log stores them, with the statements that belong to their
 * transaction.
 */
export type EncryptedEvents<E> = {
  readonly readableEvents: readonly E[];
  readonly eventsToStore: readonly E[];
  /** Statements to run first. They ensure that no person in the events is forgotten meanwhile. */
  readonly guards: readonly Sql[];
  /** The people that the guards protect, with the callers among them. Null if the events create or forget a person. */
  readonly people: { readonly guarded: readonly string[]; readonly writers: readonly string[] } | null;
  /** Statements to run last. They insert the keys of new people and delete those of forgotten people. */
  readonly keys: readonly Sql[];
  /** Reports the end of the transaction, with its error if it failed. */
  readonly ended: (error?: unknown) => void;
};

/**
 * `overwritten`: the given events, changed in place, because they come from the database and no other code has them.
 * `copies`: for events that several readers share.
 */
type DecryptedEvents = 'overwritten' | 'copies';

type EncryptionContext = {
  /** Streams that begin with these events. A person with such a stream has no key yet. */
  readonly createdPeople: ReadonlySet<string>;
  /** People whose names the transaction stores in a snapshot. */
  readonly referencedPeople: readonly string[];
  /** People whose requests these events are. The append is refused if such a person was forgotten. */
  readonly writers: readonly string[];
};

/**
 * Encrypts the texts of people before they enter the log, and decrypts them when the log is read, as long as their key
 * exists (ADR 25).
 */
export class PersonalDataCipher {
  private readonly keys: PersonKeys;

  constructor(
    private readonly database: Database,
    private readonly kinds: EventRegistry,
    encryptionKeys: EncryptionKeys,
  ) {
    this.keys = new PersonKeys(database, encryptionKeys);
  }

  async encrypt<E extends EventContent>(
    events: readonly E[],
    { createdPeople: newStreams, referencedPeople: peopleInSnapshots, writers }: EncryptionContext,
  ): Promise<EncryptedEvents<E>> {
    const personalTexts = findPersonalTexts(this.kinds, events);
    const people = listPeople(personalTexts);
    const forgotten = new Set(this.forgottenBy(events));
    const newKeys = new Map([...people].filter((id) => newStreams.has(id)).map((id) => [id, this.keys.fresh(id)]));
    const existingKeys = await this.keys.loadKeys(
      new Set([...people].filter((id) => !newKeys.has(id) && !forgotten.has(id))),
    );
    const keyring: Keyring = new Map([...existingKeys, ...newKeys]);
    // If the caller is not a writer, another service only reports their action, or a job follows from it. Both may happen
    // after they were forgotten.
    const callers = listContextPeople(personalTexts).filter((id) => keyring.get(id) || writers.includes(id));
    const guarded = new Set(
      [...peopleInSnapshots, ...callers, ...listPeopleNamedInData(events, personalTexts)].filter(
        (id) => !forgotten.has(id) && !newKeys.has(id),
      ),
    );
    const { readableEvents, eventsToStore } = encryptTexts(events, personalTexts, keyring);
    return {
      readableEvents,
      eventsToStore,
      guards: buildPeopleGuards(guarded, forgotten, writers),
      people: newKeys.size + forgotten.size === 0 ? { guarded: [...guarded], writers } : null,
      keys: [...(newKeys.size > 0 ? [this.keys.insertKeys(newKeys)] : []), ...[...forgotten].map(buildForgetStatement)],
      ended: (error) => {
        if (error === undefined) this.keys.became(new Map([...newKeys, ...toForgottenKeyring(forgotten)]));
        else if (isForgottenPersonError(error)) this.keys.doubt(guarded);
      },
    };
  }

  /**
   * Decrypts events for a reader that follows the log in order and so passes every event that forgets a person. Uses
   * cached keys until then.
   */
  follow<E extends EventContent>(
    events: readonly E[],
    run: QueryRunner,
    result: DecryptedEvents = 'overwritten',
  ): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.following(people, run), result);
  }

  /**
   * Returns the encryption of events of another site. `forgotten` are the people that the other site has forgotten. The
   * texts of the events are readable.
   */
  createImport(forgotten: ReadonlySet<string>): ImportedTexts {
    return new ImportedTexts(this.keys, this.kinds, forgotten, this.run);
  }

  /** Decrypts events for any other reader, and for publishing, with the present keys. */
  open<E extends EventContent>(
    events: readonly E[],
    run = this.run,
    result: DecryptedEvents = 'overwritten',
  ): Promise<readonly E[]> {
    return this.openWith(events, (people) => this.keys.current(people, run), result);
  }

  /** Drops the cached keys of people that these events forget. */
  passed(events: readonly EventContent[]): void {
    this.keys.became(toForgottenKeyring(this.forgottenBy(events)));
  }

  /**
   * Decrypts JSON values that contain encrypted texts, with one statement for all. Texts that only look encrypted stay
   * unchanged.
   */
  async openIn<T>(values: readonly T[]): Promise<readonly T[]> {
    const texts = new Set<string>();
    forEachString(values, (text) => {
      if (isEncryptedText(text)) texts.add(text);
    });
    const open = await this.opener(texts);
    return open === null ? values : values.map((value) => mapStrings(value, open) as T);
  }

  /** Decrypts JSON text that contains encrypted texts, for callers that do not need the parsed values. */
  async openInText(json: string): Promise<string> {
    const texts = new Map(
      [...new Set(json.match(ENCRYPTED_TEXT_IN_JSON))].map((string) => [string, JSON.parse(string) as string]),
    );
    const open = await this.opener(new Set(texts.values()));
    return open === null
      ? json
      : json.replace(ENCRYPTED_TEXT_IN_JSON, (string) => JSON.stringify(open(texts.get(string) as string)));
  }

  /**
   * Returns a function that decrypts these texts, and gives salts of values to persons who can be forgotten. With
   * `followed` keys, it is for a follower of the log, as in `follow`.
   */
  async createOpener(
    texts: Iterable<string>,
    keys: 'present' | 'followed',
    run: QueryRunner = this.run,
  ): Promise<TextOpener> {
    const people = new Set([...texts].flatMap((text) => parseEncryptedTextHeader(text)?.person ?? []));
    if (people.size === 0) return () => null;
    const keyring = await (keys === 'present' ? this.keys.current(people, run) : this.keys.following(people, run));
    return (text) => this.openText(text, keyring);
  }

  private openText(text: string, keyring: Keyring): OpenedText | null {
    const claim = isEncryptedText(text) ? parseEncryptedTextHeader(text) : null;
    if (!claim) return null;
    const key = keyring.get(claim.person);
    if (!key) return this.keys.installationMac.isOn(text) ? { ...claim, text: null, computeSalt: null } : null;
    const opened = key.open(text);
    return opened === undefined ? null : { ...claim, text: opened, computeSalt: (purpose) => key.computeSalt(purpose) };
  }

  /** Returns a function that decrypts these texts with the present keys; null if none of them looks encrypted. */
  private async opener(texts: ReadonlySet<string>): Promise<((text: string) => string | null) | null> {
    if (texts.size === 0) return null;
    const open = await this.createOpener(texts, 'present');
    return (text) => {
      const opened = open(text);
      return opened ? (opened.text ?? getPlaceholder(opened)) : text;
    };
  }

  private readonly run: QueryRunner = (statement) => this.database.rows(statement);

  private async openWith<E extends EventContent>(
    events: readonly E[],
    find: (people: ReadonlySet<string>) => Promise<Keyring>,
    result: DecryptedEvents,
  ): Promise<readonly E[]> {
    const personalTexts = findPersonalTexts(this.kinds, events);
    const people = listPeople(personalTexts);
    if (people.size === 0) return events;
    const keyring = await find(people);
    const open = (text: string, of: PersonalText): string | null => decryptText(text, of, keyring.get(of.person));
    if (result === 'copies')
      return events.map((event, n) => replaceTexts(event, personalTexts[n] as EventPersonalTexts, open));
    for (const [n, event] of events.entries()) overwriteTexts(event, personalTexts[n] as EventPersonalTexts, open);
    return events;
  }

  private forgottenBy(events: readonly EventContent[]): readonly string[] {
    return events.flatMap((event) => this.kinds[event.type]?.forgets?.(event.data as never, event) ?? []);
  }
}

/**
 * Texts from before the introduction of keys are plain. They are replaced too once the person is known to be forgotten.
 */
const decryptText = (text: string, of: PersonalText, key: PersonKey | null | undefined): string | null => {
  if (key) return isEncryptedText(text) ? (key.open(text) ?? text) : text;
  return key === null || isEncryptedText(text) ? getPlaceholder(of) : text;
};

const toForgottenKeyring = (people: Iterable<string>): Keyring => new Map([...people].map((person) => [person, null]));

const buildForgetStatement = (person: string): Sql => sql`select event_store.forget_person(${person})`;

const buildPeopleGuards = (
  guarded: ReadonlySet<string>,
  forgotten: ReadonlySet<string>,
  writers: readonly string[],
): readonly Sql[] =>
  guarded.size + forgotten.size === 0
    ? []
    : [
        ...(forgotten.size > 0 ? [ACQUIRE_NAMES_LOCK] : []),
        sql`select event_store.hold_people(${[...guarded]}::text[], ${[...forgotten]}::text[], ${writers}::text[])`,
      ];
