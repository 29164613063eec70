/** Bytes are not DER (X.690), or not of the expected type. */
export class DerError extends Error {}

/** Tags of the types that time stamps and certificates use. */
export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns the tag `[n]` of a member: of a constructed value, or of a primitive one. */
export const contextTag = (n: number, form: 'constructed' | 'primitive' = 'constructed'): number =>
  (form === 'constructed' ? 0xa0 : 0x80) + n;

type DerElement = { readonly tag: number; readonly raw: Buffer; readonly content: Buffer };

/** Reads the next element. Tags of several bytes are no DER here. */
const readElement = (bytes: Buffer): DerElement => {
  const [tag = 0x1f] = bytes;
  if ((tag & 0x1f) === 0x1f) throw new DerError('an element has no tag');
  const { header, length } = readLength(bytes);
  const raw = bytes.subarray(0, header + length);
  if (raw.length < header + length) throw new DerError('an element is incomplete');
  return { tag, raw, content: raw.subarray(header) };
};

/** Reads the length after a tag. Indefinite lengths, and those with more bytes than necessary, are no DER. */
const readLength = (bytes: Buffer): { readonly header: number; readonly length: number } => {
  const first = bytes[1] ?? 0x80;
  if (first < 0x80) return { header: 2, length: first };
  const count = first - 0x80;
  if (count === 0 || count > 3 || bytes.length < 2 + count) throw new DerError('a length is not DER');
  const length = bytes.readUIntBE(2, count);
  if (length < Math.max(0x80, 256 ** (count - 1))) throw new DerError('a length is not DER');
  return { header: 2 + count, length };
};

/** Reads the elements of a value, one after the other. */
export class DerReader {
  constructor(private rest: Buffer) {}

  /** Returns a reader of the members of the only element in `bytes`. */
  static open(bytes: Buffer, tag: number = DER.sequence): DerReader {
    const outer = new DerReader(bytes);
    const members = outer.open(tag);
    outer.end();
    return members;
  }

  get hasMore(): boolean {
    return this.rest.length > 0;
  }

  /** Returns the next element as it is, with tag and length. */
  raw(tag: number): Buffer {
    return this.take(tag).raw;
  }

  /** Returns the content of the next element. */
  content(tag: number): Buffer {
    return this.take(tag).content;
  }

  /** Returns the content of the next element if it has this tag; else null, and reads nothing. */
  optional(tag: number): Buffer | null {
    return this.rest[0] === tag ? this.content(tag) : null;
  }

  /** Returns a reader of the members of the next element. */
  open(tag: number = DER.sequence): DerReader {
    return new DerReader(this.content(tag));
  }

  objectId(): string {
    return formatObjectId(this.content(DER.objectId));
  }

  /** Returns the object identifier of an algorithm. Its parameters are skipped. */
  algorithm(): string {
    return this.open().objectId();
  }

  /** Returns each of the remaining elements, with tag and length. */
  all(): readonly Buffer[] {
    const elements: Buffer[] = [];
    while (this.hasMore) elements.push(this.next().raw);
    return elements;
  }

  /** Throws if elements remain. */
  end(): void {
    if (this.hasMore) throw new DerError('there are bytes after the end');
  }

  private take(tag: number): DerElement {
    const element = this.next();
    if (element.tag !== tag) throw new DerError(`an element has the tag ${element.tag} instead of ${tag}`);
    return element;
  }

  private next(): DerElement {
    const element = readElement(this.rest);
    this.rest = this.rest.subarray(element.raw.length);
    return element;
  }
}

const formatObjectId = (content: Buffer): string => {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(value)) throw new DerError('an object identifier is too long');
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const [first, ...rest] = numbers;
  if (first === undefined || (content.at(-1) ?? 0) >= 0x80) throw new DerError('an object identifier is incomplete');
  const top = Math.min(Math.floor(first / 40), 2);
  return [top, first - top * 40, ...rest].join('.');
};

/** Returns the DER of an element. `content`: at most 65,535 bytes. */
export const encodeDer = (tag: number, ...content: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  const { length } = body;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...header), body]);
};

/** Returns the DER of an object identifier such as `1.2.840`. */
export const encodeObjectId = (text: string): Buffer => {
  const [top = 0, second = 0, ...rest] = text.split('.').map(Number);
  return encodeDer(DER.objectId, Buffer.from([top * 40 + second, ...rest].flatMap(encodeNumber)));
};

const encodeNumber = (value: number): readonly number[] => {
  const groups = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) + 128);
  return groups;
};
