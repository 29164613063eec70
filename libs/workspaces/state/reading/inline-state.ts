import { badRequest, Refusal } from '#platform/kernel';
import {
  getJsonKind,
  findMembers,
  InvalidJsonError,
  findRoot,
  JsonTooDeepError,
  parseValue,
  type JsonSpan,
} from '../state-file/json-scan.js';

/** Attributes of a new state version that contain a file in Base64. */
const FILES = ['state', 'json-state', 'json-state-outputs'] as const;
type FileName = (typeof FILES)[number];

/** The body of a creation without its files, and the files. */
type SplitCreateRequest = {
  /** The body as small JSON. Each file is replaced by a stub that validation treats like the file. */
  readonly document: string;
  readonly state: Buffer | null;
  readonly jsonState: Buffer | null;
};

/** Clients send no nested values in the body. Unknown members are ignored. */
const MAX_BODY_DEPTH = 100;

/** Maximum size in bytes of a body without its files. */
const MAX_DOCUMENT_BYTES = 64 * 1024;

const MIB = 1024 * 1024;

/** A stub that validation accepts as Base64, and one that it refuses. */
const STUBS = { valid: '""', invalid: '"!"' } as const;

/**
 * Returns whether the text is Base64. Line breaks are accepted, because the command `base64` writes them. Other
 * characters are refused, because Node's decoder skips them and the stored bytes would differ from the sent ones.
 */
export const isBase64 = (text: string): boolean => {
  const letters = text.replaceAll(/\s/g, '');
  const padding = letters.endsWith('==') ? 2 : letters.endsWith('=') ? 1 : 0;
  return letters.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(letters.slice(0, letters.length - padding));
};

const decode = (text: string): Buffer => {
  const letters = text.replaceAll(/\s/g, '');
  // A new buffer instead of one from the pool of small buffers, because it is transferred between threads.
  const decoded = Buffer.allocUnsafeSlow(Buffer.byteLength(letters, 'base64'));
  return decoded.subarray(0, decoded.write(letters, 'base64'));
};

const createTooLargeRefusal = (name: FileName, limit: number): Refusal =>
  new Refusal('too-large', [
    {
      detail:
        `${name} is larger than ${limit / MIB} MiB, the limit for a state within a request. ` +
        'Create the state version without it, and upload the file to hosted-state-upload-url',
      pointer: `/data/attributes/${name}`,
    },
  ]);

/** Returns the spans of the files in the attributes; none if the body has another form, which validation refuses. */
const findFiles = (bytes: Uint8Array, root: JsonSpan): { readonly [Name in FileName]?: JsonSpan } => {
  let within: JsonSpan = root;
  for (const name of ['data', 'attributes'] as const) {
    if (getJsonKind(bytes, within) !== 'object') return {};
    const next: JsonSpan | undefined = findMembers(bytes, within.from, [name]).spans[name];
    if (!next) return {};
    within = next;
  }
  return getJsonKind(bytes, within) === 'object' ? findMembers(bytes, within.from, FILES).spans : {};
};

const NOTHING = Buffer.from('{}');

const findRequestRoot = (body: Uint8Array): JsonSpan => {
  try {
    return findRoot(body, MAX_BODY_DEPTH);
  } catch (error) {
    if (error instanceof InvalidJsonError) throw badRequest('The body is not valid JSON');
    if (error instanceof JsonTooDeepError) throw badRequest(`The body is ${error.message}`);
    throw error;
  }
};

type Attachment = {
  readonly name: FileName;
  readonly span: JsonSpan;
  readonly bytes: Buffer | null;
  readonly stub: string;
};

/** Returns null if it is not a string. Validation then reports it. */
const readAttachment = (body: Uint8Array, name: FileName, span: JsonSpan, limit: number): Attachment | null => {
  if (getJsonKind(body, span) !== 'string') return null;
  const text = parseValue(body, span) as string;
  if (!isBase64(text)) return { name, span, bytes: null, stub: STUBS.invalid };
  // Clients send an empty JSON form if they have none. An empty state is a file that cannot be read.
  const bytes = text === '' && name !== 'state' ? null : decode(text);
  if (bytes && bytes.length > limit) throw createTooLargeRefusal(name, limit);
  return { name, span, bytes, stub: STUBS.valid };
};

const buildDocument = (body: Uint8Array, attachments: readonly Attachment[]): string => {
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const { span, stub } of attachments.toSorted((one, other) => one.span.from - other.span.from)) {
    pieces.push(body.subarray(done, span.from), Buffer.from(stub));
    done = span.to;
  }
  const document = Buffer.concat([...pieces, body.subarray(done)]);
  if (document.length <= MAX_DOCUMENT_BYTES) return document.toString();
  const most = `${MAX_DOCUMENT_BYTES / 1024} KiB`;
  throw new Refusal('too-large', [{ detail: `The request is larger than ${most} without its state` }]);
};

/**
 * Splits the body of a creation into its files and the rest, which is small enough to parse anywhere. `limit`: maximum
 * bytes of one decoded file.
 */
export const splitCreateRequest = (sent: Uint8Array, limit: number): SplitCreateRequest => {
  const body = sent.length === 0 ? NOTHING : sent;
  const spans = findFiles(body, findRequestRoot(body));
  const attachments = FILES.flatMap((name) => {
    const span = spans[name];
    return (span && readAttachment(body, name, span, limit)) ?? [];
  });
  const bytesOf = (name: FileName): Buffer | null =>
    attachments.find((attachment) => attachment.name === name)?.bytes ?? null;
  return { document: buildDocument(body, attachments), state: bytesOf('state'), jsonState: bytesOf('json-state') };
};
