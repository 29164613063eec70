import { listEndpointModules, routesOf, type Route } from '../support/gateway-routes.js';
import { addressOf, type ExpectedAccess, type MatrixRow } from '../matrix/matrix.js';
import { ROWS } from '../matrix/rows/index.js';

/** One route of the gateway, with where it stands and what it wants. */
export type DocumentedRoute = Route & {
  /** The room: the controller's file is named after the type that it answers with. */
  readonly type: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Rows of the matrix, which tests ask of every kind of caller. */
  readonly rows: readonly MatrixRow[];
};

/** Names of parameters are nobody's business. */
const shape = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path.replaceAll(/:\w+/g, ':')}`;

const anyParams: Readonly<Record<string, string>> = new Proxy({}, { get: () => ':' });

const rowsByRoute = (): ReadonlyMap<string, readonly MatrixRow[]> =>
  Map.groupBy(Object.values(ROWS).flat() as readonly MatrixRow[], (row) => shape(addressOf(row, anyParams)));

/** Every route, by room. That each has a row is for test/matrix to see to. */
export const routes = async (): Promise<DocumentedRoute[]> => {
  const rows = rowsByRoute();
  return (await listEndpointModules()).flatMap(({ file, name, controllers }) =>
    controllers
      .flatMap(routesOf)
      .map((route) => ({ ...route, type: name, file: `libs/${file}`, rows: rows.get(shape(route)) ?? [] })),
  );
};

const wordOf = (demand: ExpectedAccess): string => {
  if (typeof demand === 'string') return `\`${demand}\``;
  if ('anyOf' in demand) return demand.anyOf.map((permission) => `\`${permission}\``).join(' or ');
  return `\`${demand[0]}\``;
};

const wanted = ({ demands }: MatrixRow): string => {
  if (demands === 'anybody') return 'none, no token';
  return demands === 'any token' ? demands : [...new Set(demands.map(wordOf))].join(', ');
};

/** What rows say, and where they do not say the same, of what. */
const inWords = (rows: readonly MatrixRow[], wordsOf: (row: MatrixRow) => string): string =>
  [...Map.groupBy(rows, wordsOf)]
    .map(([words, of], _, all) => {
      const whens = of.flatMap(({ when }) => when ?? []);
      return all.length === 1 || whens.length < of.length ? words : `${whens.join(', ')}: ${words}`;
    })
    .join('; ');

/** What the route wants of its caller, and where that depends on something, on what. */
export const permissionsOf = ({ rows }: DocumentedRoute): string => inWords(rows, wanted);

const told = ({ trail = [] }: MatrixRow): string => trail.map((entry) => `\`${entry}\``).join(', ') || '–';

/** What the trail tells where the route has done something. */
export const trailOf = ({ rows }: DocumentedRoute): string => inWords(rows, told);
