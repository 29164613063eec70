import type { IHeaders } from 'kafkajs';
import { unprocessable } from '#platform/kernel';

/** A CloudEvent from another service: its attributes by name, including extensions, and its data. */
export type InboundEvent = {
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
};

type KafkaRecord = {
  readonly value: Buffer | null;
  readonly headers?: IHeaders | undefined;
};

const STRUCTURED = 'application/cloudevents';

/**
 * Parses a CloudEvents 1.0 message in binary or structured mode, depending on `content-type` (kafka-protocol-binding.md
 * §3). Throws 422 for any other message.
 */
export const parseInboundEvent = ({ value, headers = {} }: KafkaRecord): InboundEvent => {
  const contentType = header(headers, 'content-type') ?? 'application/json';
  const event = contentType.toLowerCase().startsWith(STRUCTURED)
    ? parseStructuredMode(mediaType(contentType), value)
    : parseBinaryMode(mediaType(contentType), value, headers);
  const { specversion, id, source, type } = event.attributes;
  if (!id || !source || !type) throw unprocessable('A CloudEvent has an id, a source and a type');
  if (specversion !== '1.0') throw unprocessable('Only CloudEvents of specversion 1.0 are read');
  return event;
};

const mediaType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

const parseBinaryMode = (type: string, value: Buffer | null, headers: IHeaders): InboundEvent => {
  if (!isJson(type)) throw unprocessable(`The data is of type ${type}, and not JSON`);
  const attributes = Object.keys(headers)
    .filter((name) => name.startsWith('ce_'))
    .map((name) => [name.slice('ce_'.length), header(headers, name)] as const)
    // An attribute without a value counts as missing.
    .filter((entry): entry is readonly [string, string] => !!entry[1]);
  return { attributes: Object.fromEntries(attributes), data: parseJson(value) };
};

const parseStructuredMode = (type: string, value: Buffer | null): InboundEvent => {
  if (type !== `${STRUCTURED}+json`) throw unprocessable(`CloudEvents are not read as ${type}`);
  const event = parseJson(value);
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw unprocessable('A CloudEvent is a JSON object');
  }
  const { data, ...rest } = event as Readonly<Record<string, unknown>>;
  const { datacontenttype: of = 'application/json' } = rest;
  if (typeof of !== 'string' || !isJson(mediaType(of))) throw unprocessable('The data is not JSON');
  const attributes = Object.entries(rest).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return { attributes: Object.fromEntries(attributes), data };
};

const isJson = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

/** Bytes that are not UTF-8 are refused, because replacement characters would change the content. */
const TEXT = new TextDecoder('utf-8', { fatal: true });

const decodeText = (bytes: Uint8Array): string => {
  try {
    return TEXT.decode(bytes);
  } catch {
    throw unprocessable('The message is not UTF-8');
  }
};

const parseJson = (value: Buffer | null): unknown => {
  if (value === null) throw unprocessable('The message has no value');
  const text = decodeText(value);
  try {
    return JSON.parse(text);
  } catch {
    throw unprocessable('The message is not valid JSON');
  }
};

const header = (headers: IHeaders, name: string): string | undefined => {
  const value = headers[name];
  const last = Array.isArray(value) ? value.at(-1) : value;
  if (last === undefined) return undefined;
  return typeof last === 'string' ? last : decodeText(last);
};
