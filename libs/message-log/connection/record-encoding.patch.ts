import { createRequire } from 'node:module';

type Bytes = string | Buffer;

/** A record as kafkajs 2.2.4 passes it to its encoder. */
export type ProducedRecord = {
  readonly offsetDelta?: number;
  /** Milliseconds since the first record of the batch. */
  readonly timestampDelta?: number;
  readonly key?: Bytes | null;
  readonly value?: Bytes | null;
  readonly headers?: Readonly<Record<string, Bytes | readonly Bytes[]>>;
};

/** The members of kafkajs' Encoder that callers of the record's encoder use. */
export type RecordEncoder = { buf: Buffer; offset: number; readonly buffer: Buffer; size(): number };

export type EncodeRecord = (record: ProducedRecord) => RecordEncoder;

const RECORD_PATH = 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
const ENCODER_PATH = 'kafkajs/src/protocol/encoder.js';

/** A byte of a variable-length number has seven bits. The eighth says that another byte follows. */
const CONTINUES = 0x80;
const ABSENT = -1;

/** https://protobuf.dev/programming-guides/encoding/#signed-ints. Exact up to 2^52, unlike the bit operators. */
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

const sizeOfVarInt = (value: number): number => {
  let size = 1;
  for (let rest = zigzag(value); rest >= CONTINUES; rest = Math.floor(rest / CONTINUES)) size += 1;
  return size;
};

/** Fills a buffer of the exact size from its start. */
class RecordWriter {
  private end = 0;

  constructor(readonly buffer: Buffer) {}

  writeByte(value: number): void {
    this.buffer[this.end] = value;
    this.end += 1;
  }

  writeVarInt(value: number): void {
    let rest = zigzag(value);
    for (; rest >= CONTINUES; rest = Math.floor(rest / CONTINUES)) this.writeByte((rest % CONTINUES) + CONTINUES);
    this.writeByte(rest);
  }

  /** Writes the length in bytes, and the bytes. */
  writeBytes(bytes: Bytes | null | undefined, length: number): void {
    this.writeVarInt(length);
    if (bytes === null || bytes === undefined) return;
    this.end += typeof bytes === 'string' ? this.buffer.write(bytes, this.end) : bytes.copy(this.buffer, this.end);
  }
}

const lengthOf = (bytes: Bytes | null | undefined): number =>
  bytes === null || bytes === undefined ? ABSENT : Buffer.byteLength(bytes);

const sizeOfBytes = (length: number): number => sizeOfVarInt(length) + Math.max(length, 0);

type SizedHeader = readonly [name: string, nameLength: number, value: Bytes, valueLength: number];

const listHeaders = (headers: NonNullable<ProducedRecord['headers']>): readonly SizedHeader[] => {
  const listed: SizedHeader[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name] as Bytes | readonly Bytes[];
    const values = Array.isArray(value) ? (value as readonly Bytes[]) : [value as Bytes];
    for (const one of values) listed.push([name, Buffer.byteLength(name), one, Buffer.byteLength(one)]);
  }
  return listed;
};

/** Returns the bytes of a record of format version 2: https://kafka.apache.org/documentation/#record */
const encode = ({ offsetDelta = 0, timestampDelta = 0, key, value, headers = {} }: ProducedRecord): Buffer => {
  const [keyLength, valueLength] = [lengthOf(key), lengthOf(value)];
  const sized = listHeaders(headers);
  let body = 1 + sizeOfVarInt(timestampDelta) + sizeOfVarInt(offsetDelta) + sizeOfVarInt(sized.length);
  body += sizeOfBytes(keyLength) + sizeOfBytes(valueLength);
  for (const [, nameLength, , length] of sized) body += sizeOfBytes(nameLength) + sizeOfBytes(length);

  const writer = new RecordWriter(Buffer.allocUnsafe(sizeOfVarInt(body) + body));
  writer.writeVarInt(body);
  writer.writeByte(0); // Attributes of a record are not in use.
  writer.writeVarInt(timestampDelta);
  writer.writeVarInt(offsetDelta);
  writer.writeBytes(key, keyLength);
  writer.writeBytes(value, valueLength);
  writer.writeVarInt(sized.length);
  for (const [name, nameLength, one, length] of sized) {
    writer.writeBytes(name, nameLength);
    writer.writeBytes(one, length);
  }
  return writer.buffer;
};

const load = createRequire(import.meta.url);

/**
 * Makes kafkajs write each record into one buffer of its exact size. kafkajs 2.2.4 allocates and clears 512 bytes for
 * the record and for each of its headers. With the headers of an event, that was a third of the publisher's CPU time.
 * Call it before the first connection, because kafkajs loads the encoder with its first request.
 */
export const patchRecordEncoding = (): void => {
  const { prototype } = load(ENCODER_PATH) as { readonly prototype: RecordEncoder };
  load(RECORD_PATH);
  const module = load.cache[load.resolve(RECORD_PATH)];
  if (!module || typeof prototype.size !== 'function')
    throw new Error('kafkajs encodes records in another way: see libs/message-log/connection/record-encoding.patch.ts');
  const encodeRecord: EncodeRecord = (record) => {
    const buf = encode(record);
    return Object.assign(Object.create(prototype) as RecordEncoder, { buf, offset: buf.length });
  };
  module.exports = encodeRecord;
};
