import fc from 'fast-check';
import type { Route } from '../support/gateway-routes.js';

/** One request, in a form that a person can send again. */
export type FuzzedRequest = {
  readonly caller: string;
  readonly method: string;
  /** Path and query, encoded. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined sends no body. */
  readonly body: string | undefined;
};

/** A valid call of a route: values for the parameters of its path, and bodies that the route accepts. */
export type ValidCall = {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly bodies: readonly unknown[];
};

const LONG_TEXT = 'x'.repeat(200_000);

/** JSON values that servers often handle wrongly. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    Number.MAX_SAFE_INTEGER + 1,
    '',
    ' ',
    'null',
    '0',
    '%00',
    '\u0000',
    '\ud800',
    '\u202e',
    '../../etc/passwd',
    "'; drop table views.workspaces; --",
    '__proto__',
    'constructor',
    'toString',
    '2026-13-45T99:99:99Z',
    'x'.repeat(300),
    LONG_TEXT,
    [],
    {},
    [[]],
    [null],
    { data: null },
    { id: {} },
    { type: 'workspaces', id: 'ws-doesnotexist' },
    Array.from({ length: 2_000 }, () => ({ type: 'tags', id: 'tag-x' })),
    JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

/** Returns a copy of a JSON value in which one member, at any depth, is replaced or missing. */
export const mutated = (value: unknown, pick: (count: number) => number, replacement: unknown): unknown => {
  if (typeof value !== 'object' || value === null || pick(4) === 0) return replacement;
  if (Array.isArray(value)) {
    if (value.length === 0) return [replacement];
    const at = pick(value.length);
    return value.map((inner: unknown, index) => (index === at ? mutated(inner, pick, replacement) : inner));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return { x: replacement };
  const at = pick(entries.length);
  const isRemoved = pick(6) === 0;
  return Object.fromEntries(
    entries.flatMap(([key, inner], index): [string, unknown][] => {
      if (index !== at) return [[key, inner]];
      return isRemoved ? [] : [[key, mutated(inner, pick, replacement)]];
    }),
  );
};

export const rawBody: fc.Arbitrary<string> = fc.constantFrom(
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '7',
  '{"data":null}',
  '{"data":[]}',
  '{"data":{"attributes":null}}',
  '{"__proto__":{"x":1}}',
  '{"data":{"constructor":{"prototype":{"x":1}}}}',
  '['.repeat(50_000),
  `{"data":{"attributes":{"name":"${LONG_TEXT}"}}}`,
  `{"data":{"attributes":{"name":"${LONG_TEXT}${LONG_TEXT}"}}}`,
  '\u0000\u0001',
);

const bodyFor = ({ route, bodies }: ValidCall): fc.Arbitrary<string | undefined> => {
  if (route.method === 'GET') return fc.constant(undefined);
  const valid = fc.constantFrom<unknown>(...(bodies.length > 0 ? bodies : [{ data: { attributes: {} } }]));
  const numbers = fc.infiniteStream(fc.nat());
  const changed = fc.tuple(valid, hostileValue, numbers).map(([body, replacement, stream]) => {
    const pick = (count: number): number => (stream.next().value as number) % count;
    return JSON.stringify(mutated(body, pick, replacement));
  });
  return fc.oneof(
    { arbitrary: changed, weight: 6 },
    { arbitrary: valid.map((body) => JSON.stringify(body)), weight: 1 },
    { arbitrary: rawBody, weight: 2 },
    { arbitrary: fc.constant(undefined), weight: 1 },
  );
};

const PARAMETERS = [
  'page[number]',
  'page[size]',
  'sort',
  'include',
  'q',
  'since',
  'until',
  'after',
  'as-of',
  'search[name]',
  'search[tags]',
  'search[exclude-tags]',
  'search[wildcard-name]',
  'filter[names]',
  'filter[status]',
  'filter[status_group]',
  'filter[operation]',
  'filter[source]',
  'filter[project][id]',
  'filter[workspace][id]',
  'filter[workspace][name]',
  'filter[organization][name]',
  'filter[current-run][status]',
  'filter[tagged][0][key]',
  'filter[tagged][0][value]',
  'filter[tagged][99999][key]',
  'filter[namespace]',
  'filter[actor]',
  'filter[action]',
  'filter[resource-type]',
  'filter[resource-id]',
  'filter[field]',
  'filter[email]',
  'filter[key]',
  'token',
  '__proto__',
  'constructor',
] as const;

const QUERY_VALUES = [
  '',
  '0',
  '-1',
  '1',
  '1000000000000',
  'NaN',
  '%',
  '*',
  '\\',
  "'",
  'constructor',
  '__proto__',
  'name',
  '-name',
  'organization,project',
  'acme',
  '2026-11-21',
  '2026-11-21T00:00:00Z',
  'yesterday',
  '9'.repeat(400),
  Array.from({ length: 200 }, (_, n) => `v${n}`).join(','),
  'ü\u202e工',
  '\u0000',
] as const;

const query: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...PARAMETERS), fc.constantFrom(...QUERY_VALUES)), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&'));

const HOSTILE_SEGMENTS = [
  'null',
  '%',
  '%FF',
  '%00',
  '..%2F..',
  'x'.repeat(600),
  '-',
  'ws-',
  '%20',
  '__proto__',
  '1.0.0',
];

const pathFor = ({ route, params }: ValidCall): fc.Arbitrary<string> => {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const segment = (name: string): fc.Arbitrary<string> => {
    const validValue = params[name];
    const hostile = { arbitrary: fc.constantFrom(...HOSTILE_SEGMENTS), weight: 1 };
    return validValue === undefined
      ? hostile.arbitrary
      : fc.oneof({ arbitrary: fc.constant(validValue), weight: 5 }, hostile);
  };
  return fc.tuple(...names.map(segment)).map((segments) => {
    let at = 0;
    return route.path.replaceAll(/:\w+/g, () => segments[at++] as string);
  });
};

const headers: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>>(
  { 'content-type': 'application/vnd.api+json' },
  { 'content-type': 'application/vnd.api+json' },
  { 'content-type': 'application/vnd.api+json' },
  { 'content-type': 'application/json' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/octet-stream' },
  { 'content-type': 'application/vnd.api+json; charset=nonsense' },
  { 'x-request-id': 'not-a-uuid', 'content-type': 'application/vnd.api+json' },
  { accept: 'application/x-ndjson', 'content-type': 'application/vnd.api+json' },
  { range: 'bytes=5-1,-', 'content-type': 'application/vnd.api+json' },
  { 'user-agent': 'x'.repeat(4_000), 'content-type': 'application/vnd.api+json' },
);

/** Generates requests to one route, from nearly right to hostile, by any of the callers. */
export const requestsTo = (call: ValidCall, callers: readonly string[]): fc.Arbitrary<FuzzedRequest> =>
  fc
    .record({
      caller: fc.constantFrom(...callers),
      path: pathFor(call),
      query,
      headers,
      body: bodyFor(call),
    })
    .map(({ caller, path, query: search, headers: sent, body }) => ({
      caller,
      method: call.route.method,
      url: search === '' ? path : `${path}?${search}`,
      headers: sent,
      body,
    }));
