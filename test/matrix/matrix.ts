import { can, permissions, type Identity, type Permission, type PermissionScope } from '#access';
import type { MatrixCaller } from './callers.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import type { MatrixTrailEntry } from './trail.js';

/** What a route is about, and so where its permissions are asked for: which of targets.ts. */
export type MatrixTarget = {
  /** Where the caller's permission for it is asked. */
  readonly scope: (caller: MatrixCallerInWorld, world: MatrixWorld) => PermissionScope;
  /** For the parameters of the path: one that stays as it is for all callers. */
  readonly params: (caller: MatrixCallerInWorld, world: MatrixWorld) => Params;
  /** One like it for this caller alone, who may do with it what they want. */
  readonly fresh?: (caller: MatrixCallerInWorld, world: MatrixWorld) => Promise<FreshResource>;
};

/** With another token of the same kind, where theirs opens nothing there. */
export type FreshResource = { readonly params: Params; readonly api?: ApiTestClient };

/** Values of the path's parameters, by name. */
export type Params = Readonly<Record<string, string>>;

export type Cell = {
  readonly world: MatrixWorld;
  readonly caller: MatrixCallerInWorld;
  readonly api: ApiTestClient;
  readonly params: Params;
};

export type ExpectedAccess =
  Permission | readonly [Permission, MatrixTarget] | { readonly anyOf: readonly Permission[] };

export type MatrixRow = MatrixRequestOptions & (Reading | Writing);

/** `route` is as the gateway has it, without `/api/v2`. */
type Reading = {
  readonly route: `GET ${string}`;
  /** What is told of a success: nothing, but of what the catalogue has reads of (contract §6.1). */
  readonly trail?: readonly MatrixTrailEntry[];
  readonly inert?: never;
};

type Writing = {
  readonly route: `${'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  /** What a success leaves in the trail of the organization, in the order of the log, each entry once: `workspace lock`. */
  readonly trail: readonly MatrixTrailEntry[];
  /** Nothing of it is in the log: it is so already, or is kept beside it. Every other success must leave an event. */
  readonly inert?: true;
};

type MatrixRequestOptions = {
  /** What is special, where a route has several rows. */
  readonly condition?: string;
  readonly about: MatrixTarget;
  /**
   * Rows of the permission table, all wanted, in this order: the first that is missing says how it is refused. At the
   * target, or at another one. `anybody` needs no token, `any token` no permission.
   */
  readonly demands: 'anybody' | 'any token' | readonly ExpectedAccess[];
  /** What who may is answered. */
  readonly status: number | ((asked: MatrixRequest) => number);
  readonly query?: (cell: Omit<Cell, 'api' | 'params'>) => string;
  readonly body?: unknown;
  /** Where the body is not the same for all. */
  readonly bodyFor?: (cell: Cell) => unknown;
  /** Whether who may uses the target up. */
  readonly fresh?: true;
  /** What who may does with their target before. */
  readonly before?: (cell: Cell) => Promise<unknown>;
  /** Before and after the row as a whole. */
  readonly setUp?: (world: MatrixWorld) => Promise<unknown>;
  readonly tearDown?: (world: MatrixWorld) => Promise<unknown>;
  /** Names of what a list shows this caller, and counts. */
  readonly shows?: (asked: MatrixRequest) => readonly string[];
  /** The name under which an entry of the list is known; its attribute `name` where this is missing. */
  readonly nameOf?: (entry: any) => string;
};

export type MatrixRequest = {
  readonly caller: MatrixCallerInWorld;
  readonly world: MatrixWorld;
  readonly may: (permission: Permission, place: PermissionScope) => boolean;
};

export type ExpectedResult = (actor: Identity, permission: Permission, place: PermissionScope) => boolean;

/** By the caller's name, what they were answered, in words: `404`, `200`, `200 [far, one]`. */
export type MatrixResponses = ReadonlyMap<string, string>;

export const nameOf = ({ route, condition }: MatrixRow): string =>
  condition === undefined ? route : `${route}, ${condition}`;

const KNOWN_KINDS: readonly MatrixCaller['authentication'][] = [
  'user',
  'team',
  'organization',
  'audit-trails',
  'agent',
  'run',
];

/** Who they are by what callers.ts says of them; nothing of it has been asked of the server. */
const identityOf = (caller: MatrixCallerInWorld, { acme, rival }: MatrixWorld): Identity => ({
  kind: caller.authentication as Identity['kind'],
  id: caller.id,
  name: caller.name,
  siteAdmin: caller.siteAdmin ?? false,
  teams: [],
  standings: new Map([
    ...(caller.roles.length > 0 ? [[acme.id, new Set(caller.roles)] as const] : []),
    ...(caller.foreign ? [[rival.id, new Set(['member', 'owner'] as const)] as const] : []),
  ]),
  closedTo: new Set(),
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
});

const refusalOf = (wanted: readonly Permission[]): string =>
  wanted.every((permission) => 'refusal' in permissions[permission]) ? '403' : '404';

const wantedBy = (demand: ExpectedAccess, about: MatrixTarget): readonly [readonly Permission[], MatrixTarget] => {
  if (typeof demand === 'string') return [[demand], about];
  return 'anyOf' in demand ? [demand.anyOf, about] : [[demand[0]], demand[1]];
};

/** What the table says that this caller is answered. */
export const expectedOf = (
  row: MatrixRow,
  caller: MatrixCallerInWorld,
  world: MatrixWorld,
  allow: ExpectedResult = can,
): string => {
  const { demands, about, status, shows } = row;
  if (demands !== 'anybody') {
    if (!KNOWN_KINDS.includes(caller.authentication)) return '401';
    const identity = identityOf(caller, world);
    for (const demand of demands === 'any token' ? [] : demands) {
      const [wanted, where] = wantedBy(demand, about);
      const has = (permission: Permission): boolean => allow(identity, permission, where.scope(caller, world));
      if (!wanted.some(has)) return refusalOf(wanted);
    }
  }
  const identity = identityOf(caller, world);
  const asked: MatrixRequest = { caller, world, may: (permission, place) => allow(identity, permission, place) };
  const number = typeof status === 'number' ? status : status(asked);
  return shows ? inWords(number, shows(asked)) : String(number);
};

const inWords = (status: number, names: readonly string[]): string => `${status} [${names.toSorted().join(', ')}]`;

export const answerOf = ({ shows, nameOf: called = nameIn }: MatrixRow, { status, body }: ApiResponse): string => {
  if (!shows || status !== 200) return String(status);
  const { data, meta } = body as { data: unknown[]; meta?: { pagination: { 'total-count': number } } };
  const counted = meta === undefined || meta.pagination['total-count'] === data.length;
  return `${inWords(status, data.map(called))}${counted ? '' : `, counted ${meta?.pagination['total-count']}`}`;
};

const nameIn = (entry: any): string => entry.attributes.name as string;

export type MatrixDifference = {
  readonly row: string;
  readonly caller: string;
  readonly expected: string;
  readonly answered: string;
};

/** The cells of a row in which the answer is not what the table says. */
export const differences = (
  row: MatrixRow,
  answers: MatrixResponses,
  world: MatrixWorld,
  allow: ExpectedResult = can,
): MatrixDifference[] =>
  world.callers
    .map((caller) => ({
      row: nameOf(row),
      caller: caller.name,
      expected: expectedOf(row, caller, world, allow),
      answered: answers.get(caller.name) ?? 'not asked',
    }))
    .filter(({ expected, answered }) => expected !== answered);

const PREFIX = /^\/(?:healthz|readyz|metrics|\.well-known|api\/registry)/;

/** The address with its parameters put in. */
export const addressOf = ({ route }: MatrixRow, params: Params): { readonly method: string; readonly path: string } => {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${route}: its target has no ${name}`);
    return value;
  });
  return { method, path: PREFIX.test(path) ? path : `/api/v2${path}` };
};

const VERBS = { GET: 'get', POST: 'post', PATCH: 'patch', PUT: 'put', DELETE: 'delete' } as const;

export const send = (api: ApiTestClient, method: string, path: string, body?: unknown): Promise<ApiResponse> =>
  api[VERBS[method as keyof typeof VERBS]](path, body);

export const sendMatrixRequest = (row: MatrixRow, cell: Cell): Promise<ApiResponse> => {
  const { method, path } = addressOf(row, cell.params);
  const query = row.query ? `?${row.query(cell)}` : '';
  return send(cell.api, method, `${path}${query}`, row.bodyFor ? row.bodyFor(cell) : row.body);
};
