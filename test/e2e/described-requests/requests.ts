import fc from 'fast-check';
import { hostileValue, mutated, rawBody } from '../../faults/fuzz.js';
import type { MatrixSample } from '../../matrix/fuzzed-world.js';
import type { RawRequest } from '../../support/raw-requests.js';
import { valueOf, type GeneratedSchema, type ValueSources } from './schema-values.js';

export type ParameterTemplate = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly explode?: boolean;
  readonly schema: GeneratedSchema;
};

/** An operation of the description, with resources and bodies that the server accepts. */
export type RequestTemplate = {
  readonly method: string;
  /** Path with parameters, such as `/api/v2/runs/{id}`. */
  readonly path: string;
  /** Requests of the access matrix for resources that exist, which is one at least. */
  readonly samples: readonly MatrixSample[];
  readonly query: readonly ParameterTemplate[];
  readonly body: {
    readonly required: boolean;
    readonly mediaType: string;
    readonly schema: GeneratedSchema;
  } | null;
};

/** A request to a described operation. */
export type DescribedRequest = RawRequest & {
  readonly kind: string;
  readonly caller: string;
  /** The value of the body before it became a text, for the check against the schema. Undefined for an upload. */
  readonly value: unknown;
  /** Whether the description refuses the request, whatever the schema of the body says. */
  readonly isRefused: boolean;
};

const UNKNOWN_ID = 'ws-doesnotexist00';

const ODD_SEGMENTS = [
  UNKNOWN_ID,
  'x'.repeat(90),
  'x'.repeat(600),
  '..',
  '%2E%2E',
  '..%2F..',
  '%00',
  '%',
  '%FF',
  '%20',
  '%E5%B7%A5%F0%9F%98%80',
  '__proto__',
  '-1',
];

/** Replaces one parameter of the path by an odd value. Paths without parameters stay. */
const oddPath = ({ path, samples }: RequestTemplate): fc.Arbitrary<string> => {
  const indexes = path.split('/').flatMap((segment, index) => (segment.startsWith('{') ? [index] : []));
  const whole = fc.constantFrom(...samples.map(({ address }) => address));
  if (indexes.length === 0) return whole;
  return fc
    .tuple(whole, fc.constantFrom(...indexes), fc.constantFrom(...ODD_SEGMENTS))
    .map(([address, at, odd]) => address.split('/').with(at, odd).join('/'));
};

type QueryPair = readonly [name: string, value: string];

const toQuery = (pairs: readonly QueryPair[]): string =>
  pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');

const pairOf = ({ name, schema }: ParameterTemplate, sources: ValueSources): fc.Arbitrary<QueryPair> =>
  valueOf(schema, sources).map((value) => [name, [value].flat().join(',')]);

const isText = (schema: GeneratedSchema): boolean =>
  schema.type === 'string' && !schema.enum && schema.format === undefined;

/** Values that the schema of a parameter refuses. */
const wrongValues = (schema: GeneratedSchema): readonly string[] => {
  const { type, enum: values, format, maxLength, items = {}, minimum = 1 } = schema;
  if (type === 'integer') {
    // SCIM counts negative numbers as the nearest possible ones.
    const small = ['0', '-1'].filter((text) => Number(text) < minimum);
    return ['x', ...small, '1.5', '1e3', '1000000000', '9'.repeat(400), ' 1'];
  }
  if (values) return ['nonsense', 'constructor'];
  if (type === 'array') return items.enum ? ['nonsense', `${String(items.enum[0])},nonsense`] : [];
  if (format !== undefined) return ['yesterday', '2026-13-45T99:99:99Z'];
  return maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)];
};

const validQuery = ({ query }: RequestTemplate, sources: ValueSources): fc.Arbitrary<readonly QueryPair[]> =>
  fc
    .tuple(
      ...query.map((parameter) =>
        parameter.required === true
          ? pairOf(parameter, sources)
          : fc.option(pairOf(parameter, sources), { freq: 1, nil: null }),
      ),
    )
    .map((pairs) => pairs.filter((pair) => pair !== null));

const wrongQuery = ({ query }: RequestTemplate): fc.Arbitrary<readonly QueryPair[]> | null => {
  const pairs = query.flatMap(({ name, schema }) => wrongValues(schema).map((value): QueryPair => [name, value]));
  return pairs.length === 0 ? null : fc.constantFrom(...pairs).map((pair) => [pair]);
};

/** Repeats parameters, sends texts that no text of a resource has, and adds a parameter that does not exist. */
const oddQuery = ({ query }: RequestTemplate): fc.Arbitrary<readonly QueryPair[]> => {
  const texts = query.filter(({ schema }) => isText(schema) || schema.type === 'array').map(({ name }) => name);
  const value = fc.constantFrom('', '0', '%', '*', '\\', "'", ',', '__proto__', 'ü\u202e工', '\u0000', '9'.repeat(200));
  const pair = fc.tuple(fc.constantFrom('unheard-of', ...texts), value);
  return fc.array(pair, { minLength: 1, maxLength: 3 }).map((pairs) => [...pairs, ['unheard-of', '1']]);
};

type BodyWithAttributes = { readonly data?: { readonly attributes?: object } };

/** Adds some generated attributes to a body that the server accepts. */
const overlaid = (sample: unknown, generated: unknown, names: readonly string[]): unknown => {
  const own = (sample as BodyWithAttributes | null)?.data?.attributes;
  const others = Object.entries((generated as BodyWithAttributes | null)?.data?.attributes ?? {});
  if (!own) return sample;
  const added = others.filter(([name]) => names.includes(name));
  const { data } = sample as { data: object };
  return { ...(sample as object), data: { ...data, attributes: { ...own, ...Object.fromEntries(added) } } };
};

const validBody = (
  schema: GeneratedSchema,
  bodies: readonly unknown[],
  sources: ValueSources,
): fc.Arbitrary<unknown> => {
  const generated = valueOf(schema, sources);
  if (bodies.length === 0) return generated;
  const sample = fc.constantFrom(...bodies);
  const mixed = fc.tuple(sample, generated).chain(([base, value]) => {
    const names = Object.keys((value as BodyWithAttributes | null)?.data?.attributes ?? {});
    return fc.subarray(names, { maxLength: Math.min(names.length, 2) }).map((chosen) => overlaid(base, value, chosen));
  });
  return fc.oneof({ arbitrary: generated, weight: 2 }, { arbitrary: mixed, weight: 2 }, sample);
};

const wrongBody = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const extra = valid.map((value) => mutatedObject(value));
  const changed = fc.tuple(valid, hostileValue, fc.infiniteStream(fc.nat())).map(([body, replacement, numbers]) => {
    const pick = (count: number): number => (numbers.next().value as number) % count;
    return mutated(body, pick, replacement);
  });
  return fc.oneof({ arbitrary: changed, weight: 5 }, extra);
};

/** Adds an unknown member to an object and to its objects. */
const mutatedObject = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, mutatedObject(inner)]);
  return { ...(Object.fromEntries(members) as object), 'unheard-of': 1 };
};

const bodiesOf = ({ samples }: RequestTemplate): readonly unknown[] =>
  samples.flatMap(({ body }) => (body === undefined ? [] : [body]));

type RequestParts = Omit<DescribedRequest, 'kind' | 'method' | 'url' | 'isRefused'> & {
  readonly path: string;
  readonly query: readonly QueryPair[];
};

/** How many requests to send of each kind, and how to generate them. */
type GeneratedRequests = { readonly count: number; readonly requests: fc.Arbitrary<DescribedRequest> };

/** Operations that only the token of an agent pool may call. */
const OF_EXECUTORS =
  /^(?:POST \/api\/v2\/agents(?:$|\/)|POST \S+\/agent-pools\/\{pool\}\/agents$|GET \S+\/agent-pools\/\{id\}\/runs$|PUT \S+\/(?:plans|applies)\/|POST \S+\/runs\/\{id\}\/(?:progress|job|identity-tokens|authentication-tokens|actions\/renew-lease)$)/;

/** Returns the caller whose requests succeed. */
const callerOf = ({ method, path }: RequestTemplate): string => {
  if (path.startsWith('/scim/')) return 'identity provider';
  return OF_EXECUTORS.test(`${method} ${path}`) ? 'agent' : 'site administrator';
};

/** Generates the requests of a template, kind by kind. */
class RequestGenerator {
  private readonly query: fc.Arbitrary<readonly QueryPair[]>;
  private readonly path: fc.Arbitrary<string>;
  private readonly value: fc.Arbitrary<unknown>;
  private readonly json: { readonly 'content-type'?: string };

  constructor(
    private readonly template: RequestTemplate,
    sources: ValueSources,
  ) {
    this.query = validQuery(template, sources);
    this.path = fc.constantFrom(...template.samples.map(({ address }) => address));
    this.value = template.body ? validBody(template.body.schema, bodiesOf(template), sources) : fc.constant(undefined);
    this.json = template.body ? { 'content-type': template.body.mediaType } : {};
  }

  all(): readonly GeneratedRequests[] {
    const { template } = this;
    const wrong = wrongQuery(template);
    return [
      ...template.samples.map((sample) => this.sample(sample)),
      this.kind('valid', 4, {}),
      this.kind('other callers', 2, { caller: fc.constantFrom('nobody', 'outsider', 'organization') }),
      this.kind('odd path', 3, { path: oddPath(template) }),
      this.kind('odd query', 1, { query: oddQuery(template) }),
      ...(wrong ? [this.kind('wrong query', 3, { query: wrong }, true)] : []),
      ...(template.body && !isUpload(template) ? this.bodies(template.body.required) : []),
    ];
  }

  private sample({ address, query, body }: MatrixSample): GeneratedRequests {
    return this.kind('sample', 1, {
      path: fc.constant(address),
      query: fc.constant([...new URLSearchParams(query)]),
      value: fc.constant(body),
    });
  }

  private bodies(isRequired: boolean): readonly GeneratedRequests[] {
    return [
      ...(isRequired ? [this.kind('no body', 1, { body: fc.constant(undefined) }, true)] : []),
      this.kind('changed body', 6, { value: wrongBody(this.value) }),
      this.kind('not JSON', 2, { body: rawBody.filter((text) => !isJson(text) && text !== '') }, true),
      this.kind('wrong media type', 1, { headers: fc.constant({ 'content-type': 'text/plain' }) }, true),
    ];
  }

  private kind(
    kind: string,
    count: number,
    changes: { readonly [Name in keyof RequestParts]?: fc.Arbitrary<RequestParts[Name]> },
    isRefused = false,
  ): GeneratedRequests {
    const {
      caller = fc.constant(callerOf(this.template)),
      path = this.path,
      query = this.query,
      value = this.value,
    } = changes;
    const { headers = fc.constant(this.json as Readonly<Record<string, string>>), body } = changes;
    const text = fc.tuple(value, body ?? fc.constant(null)).map(([json, raw]) => ({
      value: json,
      body: raw === null ? (isUpload(this.template) ? (json as string | Uint8Array) : JSON.stringify(json)) : raw,
    }));
    const { method } = this.template;
    const requests = fc
      .record({ caller, path, query, headers, text })
      .map(({ caller: by, path: address, query: pairs, headers: sent, text: { value: json, body: raw } }) => ({
        kind,
        caller: by,
        method,
        url: pairs.length === 0 ? address : `${address}?${toQuery(pairs)}`,
        headers: raw === undefined ? {} : sent,
        body: raw,
        value: isUpload(this.template) ? undefined : json,
        isRefused,
      }));
    return { count, requests };
  }
}

/** The body of an upload is a text, and every other body is JSON. */
const isUpload = ({ body }: RequestTemplate): boolean => body?.schema.type === 'string';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

export const kindsOf = (template: RequestTemplate, sources: ValueSources): readonly GeneratedRequests[] =>
  new RequestGenerator(template, sources).all();
