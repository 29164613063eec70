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

/** The record is no event of Cadastre. No attempt can succeed, so it becomes a dead letter at once. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
}

const TYPE = /^cadastre\.([A-Za-z]+)\.v([1-9]\d*)$/;
const STRUCTURED = 'application/cloudevents+json';

type Attributes = Readonly<Record<string, unknown>>;

/**
 * Decodes a CloudEvent 1.0 of Cadastre in binary or structured mode. `data` has the schema version of the
 * record: `upcastEvent` converts it to the newest. Throws UnreadableRecordError for any other record.
 */
export const decodeEvent = (record: TopicRecord): CadastreEvent => {
  const { attributes, data } = readContent(record);
  const text = (name: string): string => {
    const value = attributes[name];
    if (typeof value !== 'string' || value === '') throw new UnreadableRecordError(`the record has no ${name}`);
    return value;
  };
  const optional = (name: string): string | null => (typeof attributes[name] === 'string' ? attributes[name] : null);
  if (text('specversion') !== '1.0') throw new UnreadableRecordError('specversion of the record is not 1.0');
  const [, type, schemaVersion] = TYPE.exec(text('type')) ?? [];
  if (type === undefined)
    throw new UnreadableRecordError(`the type of the record is no cadastre.NAME.vN: ${text('type')}`);
  return {
    id: text('id'),
    type: type as EventType,
    schemaVersion: Number(schemaVersion),
    source: text('source'),
    stream: text('stream'),
    version: readNumber('version', text('version')),
    position: BigInt(readNumber('position', text('position'))),
    time: readTime(text('time')),
    organization: optional('organization'),
    caller: { kind: text('authtype'), id: text('authid'), impersonator: optional('impersonator') },
    data,
  } as CadastreEvent;
};

const readNumber = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new UnreadableRecordError(`${name} of the record is no positive integer: ${text}`);
};

const readTime = (text: string): Date => {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new UnreadableRecordError(`time of the record is no time: ${text}`);
};

const readContent = (record: TopicRecord): { readonly attributes: Attributes; readonly data: unknown } => {
  const headers = readHeaders(record);
  const value = parseValue(record.value);
  if (!(headers['content-type'] ?? '').startsWith(STRUCTURED)) {
    const names = Object.entries(headers).filter(([name]) => name.startsWith('ce_'));
    return {
      attributes: Object.fromEntries(names.map(([name, text]) => [name.slice('ce_'.length), text])),
      data: value,
    };
  }
  if (typeof value !== 'object' || value === null) throw new UnreadableRecordError('the CloudEvent is no object');
  const { data, ...attributes } = value as Attributes;
  return { attributes, data };
};

/** Returns the headers of a record as text. Of a header with several values, the last one. */
export const readHeaders = ({ headers = {} }: Pick<TopicRecord, 'headers'>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return last === undefined ? [] : [[name, last.toString()]];
    }),
  );

/** Parses the JSON value of a record. Throws UnreadableRecordError if it has none. */
export const parseValue = (value: Buffer | null): unknown => {
  if (value === null) throw new UnreadableRecordError('the record has no value');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value)) as unknown;
  } catch (error) {
    throw new UnreadableRecordError('the value of the record is no JSON', { cause: error });
  }
};
