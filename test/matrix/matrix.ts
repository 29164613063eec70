import { can, permissions, UNRESTRICTED, type Identity, type Permission, type PermissionScope } from '#api/access';
import type { MatrixCaller } from './callers.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import type { MatrixTrailEntry } from './trail.js';

/** The resource that a row is about, and the scope of its permissions. See targets.ts. */
export type MatrixTarget = {
  /** Returns the scope in which the caller needs the permission. */
  readonly scope: (caller: MatrixCallerInWorld, world: MatrixWorld) => PermissionScope;
  /** Returns the path parameters of a shared resource that stays unchanged. */
  readonly params: (caller: MatrixCallerInWorld, world: MatrixWorld) => Params;
  /** Whether agents of the site reach it. They have their role everywhere, but serve no workspace of acme. */
  readonly ofSite?: true;
  /** Creates a resource for this caller alone, which the request may use up. */
  readonly fresh?: (caller: MatrixCallerInWorld, world: MatrixWorld) => Promise<FreshResource>;
};

/** `api` has another token of the same kind, if the caller's own token is not valid for the resource. */
export type FreshResource = { readonly params: Params; readonly api?: ApiTestClient };

/** Values of the path parameters by name. */
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

/** `route` is the route of the gateway without `/api/v2`. */
type Reading = {
  readonly route: `GET ${string}`;
  /** Entries that a success adds to the trail. Only recorded reads add entries. */
  readonly trail?: readonly MatrixTrailEntry[];
  readonly inert?: never;
};

type Writing = {
  readonly route: `${'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  /**
   * Entries that a success adds to the trail of the organization or of the site, in the order of the log, each once:
   * `workspace lock`.
   */
  readonly trail: readonly MatrixTrailEntry[];
  /**
   * Whether a success appends no event, because nothing changes or the change is stored outside the log. Every other
   * success must append an event.
   */
  readonly inert?: true;
};

type MatrixRequestOptions = {
  /** Distinguishes the rows of one route. */
  readonly condition?: string;
  readonly about: MatrixTarget;
  /**
   * Permissions that the caller needs, in this order, in the scope of the target or of another one. The first missing
   * permission decides the refusal. `anybody` needs no token, `any token` no permission.
   */
  readonly demands: 'anybody' | 'any token' | readonly ExpectedAccess[];
  /** Status for callers with the permissions. */
  readonly status: number | ((request: MatrixRequest) => number);
  readonly query?: (cell: Omit<Cell, 'api' | 'params'>) => string;
  readonly body?: unknown;
  /** Set if the body differs between callers. */
  readonly bodyFor?: (cell: Cell) => unknown;
  /** Whether a success uses the target up. */
  readonly fresh?: true;
  /** The spec that checks successes of a form, because its fields come from another page. */
  readonly successes?: string;
  /** Prepares the target for callers with the permissions. */
  readonly before?: (cell: Cell) => Promise<unknown>;
  /** Run before and after all requests of the row. The ids of the world are the same in each server, so remember by server. */
  readonly setUp?: (world: MatrixWorld) => Promise<unknown>;
  readonly tearDown?: (world: MatrixWorld) => Promise<unknown>;
  /** Returns the names in the list for this caller. The total count must match. */
  readonly shows?: (request: MatrixRequest) => readonly string[];
  /** Returns the name of a list item. The default is its attribute `name`. */
  readonly nameOf?: (entry: any) => string;
};

export type MatrixRequest = {
  readonly caller: MatrixCallerInWorld;
  readonly world: MatrixWorld;
  readonly may: (permission: Permission, scope: PermissionScope) => boolean;
};

export type ExpectedResult = (actor: Identity, permission: Permission, scope: PermissionScope) => boolean;

/** Responses by the name of the caller, as text: `404`, `200`, `200 [far, one]`. */
export type MatrixResponses = ReadonlyMap<string, string>;

export const nameOf = ({ route, condition }: MatrixRow): string =>
  condition === undefined ? route : `${route}, ${condition}`;

const VALID_KINDS: readonly MatrixCaller['authentication'][] = [
  'user',
  'team',
  'organization',
  'audit-trails',
  'agent',
  'run',
];

/** Routes of SCIM accept tokens for SCIM only, and no other route accepts them. */
const acceptsKind = ({ route }: MatrixRow, { authentication }: MatrixCallerInWorld): boolean =>
  route.includes(' /scim/') ? authentication === 'scim' : VALID_KINDS.includes(authentication);

/** Returns the identity that callers.ts describes, without a request to the server. */
const identityOf = (caller: MatrixCallerInWorld, { acme, rival }: MatrixWorld): Identity => ({
  kind: caller.authentication as Identity['kind'],
  id: caller.id,
  name: caller.name,
  siteAdmin: caller.siteAdmin ?? false,
  credential: 'token',
  assurance: null,
  provedAt: null,
  teams: [],
  rolesByOrganization: new Map([
    ...(caller.roles.length > 0 ? [[acme.id, new Set(caller.roles)] as const] : []),
    ...(caller.foreign ? [[rival.id, new Set(['member', 'owner'] as const)] as const] : []),
  ]),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
});

const refusalOf = (alternatives: readonly Permission[]): string =>
  alternatives.every((permission) => 'refusal' in permissions[permission]) ? '403' : '404';

const demandOf = (demand: ExpectedAccess, about: MatrixTarget): readonly [readonly Permission[], MatrixTarget] => {
  if (typeof demand === 'string') return [[demand], about];
  return 'anyOf' in demand ? [demand.anyOf, about] : [[demand[0]], demand[1]];
};

/** Returns the response that the permission table specifies for this caller. */
export const expectedOf = (
  row: MatrixRow,
  caller: MatrixCallerInWorld,
  world: MatrixWorld,
  allow: ExpectedResult = can,
): string => {
  const { demands, about, status, shows } = row;
  if (demands !== 'anybody') {
    if (!acceptsKind(row, caller)) return '401';
    const identity = identityOf(caller, world);
    for (const demand of demands === 'any token' ? [] : demands) {
      const [alternatives, where] = demandOf(demand, about);
      const isInReach = !caller.siteAgent || where.ofSite === true;
      const has = (permission: Permission): boolean =>
        isInReach && allow(identity, permission, where.scope(caller, world));
      if (!alternatives.some(has)) return refusalOf(alternatives);
    }
  }
  const identity = identityOf(caller, world);
  const request: MatrixRequest = { caller, world, may: (permission, scope) => allow(identity, permission, scope) };
  const number = typeof status === 'number' ? status : status(request);
  return shows ? inWords(number, shows(request)) : String(number);
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

/** Returns the cells of a row whose response differs from the table. */
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
      answered: answers.get(caller.name) ?? 'no response',
    }))
    .filter(({ expected, answered }) => expected !== answered);

const PREFIX =
  /^\/(?:$|healthz|readyz|metrics|pages|scim|schemas|sign-in|sign-out|account\/?$|account\/(?:sessions|password|tokens|totp|recovery-codes|passkeys|identities|identity-providers)|app(?:\/|$)|audit-trail-log|oauth\/|auth\/|\.well-known|api\/(?:registry|docs|openapi|asyncapi))/;

/** Returns the method and the path with its parameters. */
export const addressOf = ({ route }: MatrixRow, params: Params): { readonly method: string; readonly path: string } => {
  const [method = '', template = ''] = route.split(' ');
  const rest = Object.hasOwn(params, '*') ? template.replace(/\*$/, params['*'] ?? '') : template;
  const path = rest.replaceAll(/:(\w+)/g, (_, name: string) => {
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
