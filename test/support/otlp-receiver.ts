import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTracing, type RunningTracing, type TracingOptions } from '#platform/tracing';
import { waitUntil } from './product.js';
import { quiet } from './silent-logger.js';

export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Ids of the spans that this one links to. */
  readonly links: readonly string[];
  readonly isError: boolean;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
};

/** A collector that accepts traces over HTTP in protobuf, as OTLP defines them. */
export type OtlpReceiver = {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The bodies of all requests as they arrived. */
  readonly bodies: readonly Buffer[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Resolves when a span satisfies the condition. */
  find(what: string, condition: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
};

/** The fields of a protobuf message by number: numbers of varints, and bytes of everything else. */
type ProtobufFields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const readVarint = (bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } => {
  let value = 0n;
  for (let at = start; ; at += 1) {
    const byte = bytes.readUInt8(at);
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
};

const decodeFields = (bytes: Buffer): ProtobufFields => {
  const fields = new Map<number, (bigint | Buffer)[]>();
  for (let at = 0; at < bytes.length;) {
    const tag = readVarint(bytes, at);
    const type = Number(tag.value & 7n);
    const number = Number(tag.value >> 3n);
    let value: bigint | Buffer;
    if (type === VARINT) ({ value, end: at } = readVarint(bytes, tag.end));
    else {
      const length = type === BYTES ? readVarint(bytes, tag.end) : { value: type === FIXED32 ? 4n : 8n, end: tag.end };
      if (![BYTES, FIXED32, FIXED64].includes(type)) throw new Error(`unexpected type ${type} of a protobuf field`);
      at = length.end + Number(length.value);
      value = bytes.subarray(length.end, at);
    }
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
};

const getMessages = (fields: ProtobufFields, number: number): readonly ProtobufFields[] =>
  (fields.get(number) ?? []).map((value) => decodeFields(value as Buffer));

const getBytes = (fields: ProtobufFields, number: number): Buffer =>
  (fields.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer;
const getText = (fields: ProtobufFields, number: number): string => getBytes(fields, number).toString('utf8');
const getHex = (fields: ProtobufFields, number: number): string => getBytes(fields, number).toString('hex');
const getNumber = (fields: ProtobufFields, number: number): number => Number(fields.get(number)?.[0] ?? 0n);

/** Decodes AnyValue of opentelemetry/proto/common/v1/common.proto. */
const decodeValue = (value: ProtobufFields): unknown => {
  if (value.has(1)) return getText(value, 1);
  if (value.has(2)) return getNumber(value, 2) === 1;
  if (value.has(3)) return getNumber(value, 3);
  if (value.has(4)) return getBytes(value, 4).readDoubleLE();
  return getMessages(getMessages(value, 5)[0] ?? new Map(), 1).map(decodeValue);
};

const decodeAttributes = (fields: ProtobufFields, number: number): Record<string, unknown> =>
  Object.fromEntries(
    getMessages(fields, number).map((pair) => [getText(pair, 1), decodeValue(getMessages(pair, 2)[0] ?? new Map())]),
  );

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const ERROR = 2;

/** Decodes Span of opentelemetry/proto/trace/v1/trace.proto. */
const decodeSpan = (span: ProtobufFields, resource: ReceivedSpan['resource']): ReceivedSpan => ({
  traceId: getHex(span, 1),
  spanId: getHex(span, 2),
  parentId: getHex(span, 4),
  name: getText(span, 5),
  kind: KINDS[getNumber(span, 6)] ?? '',
  attributes: decodeAttributes(span, 9),
  links: getMessages(span, 13).map((link) => getHex(link, 2)),
  isError: getMessages(span, 15).some((status) => getNumber(status, 3) === ERROR),
  resource,
});

/** Decodes ExportTraceServiceRequest. */
const decodeExport = (body: Buffer): readonly ReceivedSpan[] =>
  getMessages(decodeFields(body), 1).flatMap((ofProcess) => {
    const resource = decodeAttributes(getMessages(ofProcess, 1)[0] ?? new Map(), 1);
    const scopes = getMessages(ofProcess, 2);
    return scopes.flatMap((scope) => getMessages(scope, 2).map((span) => decodeSpan(span, resource)));
  });

export const startOtlpReceiver = async (): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const body = Buffer.concat(chunks);
      const isExport = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
      if (isExport) {
        bodies.push(body);
        headers.push(request.headers);
        spans.push(...decodeExport(body));
      }
      response.writeHead(isExport ? 200 : 400, { 'content-type': 'application/x-protobuf' }).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    find: async (what, condition) => {
      await waitUntil(() => spans.some(condition), `the collector has ${what}`);
      return spans.find(condition) as ReceivedSpan;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Records traces in this process until they are stopped. Servers that start before are not traced. */
export const startTestTracing = (
  receiver: OtlpReceiver,
  options: Partial<TracingOptions> = {},
): Promise<RunningTracing> =>
  startTracing(
    {
      url: `${receiver.url}/v1/traces`,
      headers: {},
      sampler: 'parentbased_always_on',
      samplingRatio: 1,
      serviceName: 'cadastre',
      resourceAttributes: {},
      exportEveryMs: 20,
      ...options,
    },
    { name: 'test', version: '1.2.3' },
    quiet,
  );
