import type { IHeaders } from 'kafkajs';
import type { EventData, EventType } from './event-types.js';

/** A record of a topic, as kafkajs passes it. */
export type TopicRecord = {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: IHeaders | undefined;
};

/** An event of Cadastre. `type` is its name, such as `WorkspaceLocked`, and decides the shape of `data`. */
export type CadastreEvent<T extends EventType = EventType> = {
  [Name in T]: {
    /** UUID, and the id of its entry in the audit trail. */
    readonly id: string;
    readonly type: Name;
    /** Version of the shape of `data`, from 1. */
    readonly schemaVersion: number;
    /** Public URL of the site. */
    readonly source: string;
    /** Id of the resource that changed. The events of one stream are in order. */
    readonly stream: string;
    /** Number of the event in its stream: 1, 2, 3 … */
    readonly version: number;
    /** Number of the event in the log of the site: unique, with gaps. */
    readonly position: bigint;
    readonly time: Date;
    /** Id of the organization. Null if the event belongs to the site. */
    readonly organization: string | null;
    /** The caller whose request caused the event. `kind` is `user`, `service_account` or `system`. */
    readonly caller: { readonly kind: string; readonly id: string; readonly impersonator: string | null };
    readonly data: EventData[Name];
  };
}[T];

/** The record is not an event of Cadastre. No attempt can succeed, so it becomes a dead letter at once. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
}

const TYPE = /^cadastre\.([A-Za-z]+)\.v([1-9]\d*)$/;
const STRUCTURED = 'application/cloudevents+json';

const QUOTED_MAX = 100;

type Attributes = Readonly<Record<string, unknown>>;

type RecordContent = {
  readonly attributes: Attributes;
  /** What the record has before the name of an attribute: `ce_` in its headers, nothing in its value. */
  readonly prefix: string;
  readonly data: unknown;
};

/**
 * Decodes a CloudEvent 1.0 of Cadastre in binary or structured mode. `data` has the schema version of the
 * record: `upcastEvent` converts it to the newest. Throws UnreadableRecordError for any other record.
 */
export const decodeEvent = (record: TopicRecord): CadastreEvent => {
  const { attributes, prefix, data } = readContent(record);
  const read = <T>(name: string, accepted: string, parse: (text: string) => T | null): T => {
    const value = attributes[name];
    const parsed = typeof value === 'string' && value !== '' ? parse(value) : null;
    if (parsed !== null) return parsed;
    throw new UnreadableRecordError(`${prefix}${name}: must be ${accepted}, got ${quote(value)}`);
  };
  const text = (name: string): string => read(name, 'a text that is not empty', (value) => value);
  const optional = (name: string): string | null => (typeof attributes[name] === 'string' ? attributes[name] : null);
  read('specversion', '1.0', (value) => (value === '1.0' ? value : null));
  const [, type, schemaVersion] = read('type', 'cadastre.NAME.vN', (value) => TYPE.exec(value));
  return {
    id: text('id'),
    type: type as EventType,
    schemaVersion: Number(schemaVersion),
    source: text('source'),
    stream: text('stream'),
    version: read('version', 'a whole number from 1 up', parseNumber),
    position: BigInt(read('position', 'a whole number from 1 up', parseNumber)),
    time: read('time', 'an RFC 3339 time', parseTime),
    organization: optional('organization'),
    caller: { kind: text('authtype'), id: text('authid'), impersonator: optional('impersonator') },
    data,
  } as CadastreEvent;
};

const parseNumber = (text: string): number | null => {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : null;
};

const parseTime = (text: string): Date | null => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time;
};

/** Returns the start of a value as JSON, or `nothing` for an absent value. */
const quote = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const start = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
  return typeof value === 'string' ? JSON.stringify(start) : start;
};

const readContent = (record: TopicRecord): RecordContent => {
  const headers = readHeaders(record);
  const value = parseValue(record.value);
  if (!(headers['content-type'] ?? '').startsWith(STRUCTURED)) {
    const names = Object.entries(headers).filter(([name]) => name.startsWith('ce_'));
    const attributes = Object.fromEntries(names.map(([name, text]) => [name.slice('ce_'.length), text]));
    return { attributes, prefix: 'ce_', data: value };
  }
  if (typeof value !== 'object' || value === null) {
    throw new UnreadableRecordError(`value: must be a CloudEvent in a JSON object, got ${quote(value)}`);
  }
  const { data, ...attributes } = value as Attributes;
  return { attributes, prefix: '', data };
};

/** Returns the headers of a record as text. If a header has several values, the last one counts. */
export const readHeaders = ({ headers = {} }: Pick<TopicRecord, 'headers'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return last === undefined ? [] : [[name, last.toString()]];
    }),
  );

/**
 * Parses the JSON value of a record. Throws UnreadableRecordError if it has none. The error does not quote the value, because
 * it can contain personal data.
 */
export const parseValue = (value: Buffer | null): unknown => {
  if (value === null) throw new UnreadableRecordError('value: must be JSON in UTF-8, got nothing');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value)) as unknown;
  } catch (error) {
    throw new UnreadableRecordError(`value: must be JSON in UTF-8, got ${value.length} other bytes`, { cause: error });
  }
};
