type Bytes = string | Buffer;

/** A message as kafkajs 2.2.4 passes it to its encoder. */
export type ProducedMessage = {
  readonly key?: Bytes | null;
  readonly value?: Bytes | null;
  readonly headers?: Readonly<Record<string, Bytes | readonly Bytes[]>>;
  /** Milliseconds since 1970. Default: the present time. */
  readonly timestamp?: string | number | null;
};

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
export class ByteWriter {
  private end = 0;
  readonly buffer: Buffer;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  get offset(): number {
    return this.end;
  }

  writeInt8(value: number): void {
    this.buffer[this.end] = value;
    this.end += 1;
  }

  writeInt16(value: number): void {
    this.end = this.buffer.writeInt16BE(value, this.end);
  }

  writeInt32(value: number): void {
    this.end = this.buffer.writeInt32BE(value, this.end);
  }

  writeInt64(value: bigint): void {
    this.end = this.buffer.writeBigInt64BE(value, this.end);
  }

  /** Writes a text of less than 32,768 bytes after its length. */
  writeString(text: string): void {
    this.writeInt16(Buffer.byteLength(text));
    this.end += this.buffer.write(text, this.end);
  }

  writeVarInt(value: number): void {
    let rest = zigzag(value);
    for (; rest >= CONTINUES; rest = Math.floor(rest / CONTINUES)) this.writeInt8((rest % CONTINUES) + CONTINUES);
    this.writeInt8(rest);
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

const listHeaders = (headers: NonNullable<ProducedMessage['headers']>): readonly SizedHeader[] => {
  const listed: SizedHeader[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name] as Bytes | readonly Bytes[];
    const values = Array.isArray(value) ? (value as readonly Bytes[]) : [value as Bytes];
    for (const one of values) listed.push([name, Buffer.byteLength(name), one, Buffer.byteLength(one)]);
  }
  return listed;
};

/** A record with its lengths in bytes, which are computed once. */
type SizedRecord = {
  readonly message: ProducedMessage;
  readonly timestampDelta: number;
  readonly offsetDelta: number;
  readonly keyLength: number;
  readonly valueLength: number;
  readonly headers: readonly SizedHeader[];
  /** Without the length itself, which comes first. */
  readonly bodySize: number;
};

const sizeRecord = (message: ProducedMessage, timestampDelta: number, offsetDelta: number): SizedRecord => {
  const [keyLength, valueLength] = [lengthOf(message.key), lengthOf(message.value)];
  const headers = listHeaders(message.headers ?? {});
  let bodySize = 1 + sizeOfVarInt(timestampDelta) + sizeOfVarInt(offsetDelta) + sizeOfVarInt(headers.length);
  bodySize += sizeOfBytes(keyLength) + sizeOfBytes(valueLength);
  for (const [, nameLength, , length] of headers) bodySize += sizeOfBytes(nameLength) + sizeOfBytes(length);
  return { message, timestampDelta, offsetDelta, keyLength, valueLength, headers, bodySize };
};

/** Writes a record of format version 2: https://kafka.apache.org/documentation/#record */
const writeRecord = (writer: ByteWriter, record: SizedRecord): void => {
  const { message, timestampDelta, offsetDelta, keyLength, valueLength, headers, bodySize } = record;
  writer.writeVarInt(bodySize);
  writer.writeInt8(0); // Attributes of a record are not in use.
  writer.writeVarInt(timestampDelta);
  writer.writeVarInt(offsetDelta);
  writer.writeBytes(message.key, keyLength);
  writer.writeBytes(message.value, valueLength);
  writer.writeVarInt(headers.length);
  for (const [name, nameLength, value, length] of headers) {
    writer.writeBytes(name, nameLength);
    writer.writeBytes(value, length);
  }
};

/** The producer that sends a batch. */
export type BatchProducer = {
  readonly id: bigint;
  readonly epoch: number;
  readonly isTransactional: boolean;
  /** CRC-32C (Castagnoli) of the bytes. */
  readonly checksum: (bytes: Buffer) => number;
};

const MAGIC = 2;
const TRANSACTIONAL = 16;
/** The fields of a batch before its first record. */
const HEADER_BYTES = 61;
/** The fields that the length of a batch does not include: its first offset and the length itself. */
const PREFIX_BYTES = 12;
/** The position of the first byte that the checksum covers: the byte after the checksum. */
const CHECKED_FROM = PREFIX_BYTES + 9;

/** A batch of records in format version 2, without compression: https://kafka.apache.org/documentation/#recordbatch */
export class RecordBatch {
  /** Bytes. */
  readonly size: number;
  private readonly records: readonly SizedRecord[];
  private readonly firstTimestamp: number;
  private readonly maxTimestamp: number;

  /** `now` is the time of messages without one. */
  constructor(
    messages: readonly ProducedMessage[],
    private readonly firstSequence: number,
    now: number,
  ) {
    let [first, max] = [Infinity, -Infinity];
    for (const { timestamp } of messages) {
      if (timestamp === null || timestamp === undefined) continue;
      first = Math.min(first, Number(timestamp));
      max = Math.max(max, Number(timestamp));
    }
    this.firstTimestamp = first === Infinity ? now : first;
    this.maxTimestamp = max === -Infinity ? now : max;
    this.records = messages.map((message, n) =>
      sizeRecord(message, Number(message.timestamp ?? now) - this.firstTimestamp, n),
    );
    this.size = this.records.reduce((sum, { bodySize }) => sum + sizeOfVarInt(bodySize) + bodySize, HEADER_BYTES);
  }

  write(writer: ByteWriter, { id, epoch, isTransactional, checksum }: BatchProducer): void {
    const start = writer.offset;
    writer.writeInt64(0n); // The broker assigns the offset.
    writer.writeInt32(this.size - PREFIX_BYTES);
    writer.writeInt32(0); // The epoch of the partition's leader, which the broker sets.
    writer.writeInt8(MAGIC);
    writer.writeInt32(0); // The checksum is written last.
    writer.writeInt16(isTransactional ? TRANSACTIONAL : 0);
    writer.writeInt32(this.records.length - 1);
    writer.writeInt64(BigInt(this.firstTimestamp));
    writer.writeInt64(BigInt(this.maxTimestamp));
    writer.writeInt64(id);
    writer.writeInt16(epoch);
    writer.writeInt32(this.firstSequence);
    writer.writeInt32(this.records.length);
    for (const record of this.records) writeRecord(writer, record);
    const checked = writer.buffer.subarray(start + CHECKED_FROM, start + this.size);
    writer.buffer.writeUInt32BE(checksum(checked), start + CHECKED_FROM - 4);
  }
}
