import { listEndpointModules, routesOf, type Route } from '../support/gateway-routes.js';
import { addressOf, type ExpectedAccess, type MatrixRow } from '../matrix/matrix.js';
import { ROWS } from '../matrix/rows/index.js';

/** A route of the gateway with its controller and its rows of the matrix. */
export type DocumentedRoute = Route & {
  /** Name of the controller's file, which is the JSON:API type of the response. */
  readonly type: string;
  /** Path of the controller from the root of the repository. */
  readonly file: string;
  /** Rows of the matrix. Tests call each row as every kind of caller. */
  readonly rows: readonly MatrixRow[];
};

/** Returns method and path without the names of parameters. */
const shape = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path.replaceAll(/:\w+/g, ':')}`;

const anyParams: Readonly<Record<string, string>> = new Proxy({}, { get: () => ':' });

const rowsByRoute = (): ReadonlyMap<string, readonly MatrixRow[]> =>
  Map.groupBy(Object.values(ROWS).flat() as readonly MatrixRow[], (row) => shape(addressOf(row, anyParams)));

/** Returns every route, by controller. A test of the matrix checks that each has a row. */
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

const describeDemands = ({ demands }: MatrixRow): string => {
  if (demands === 'anybody') return 'none, no token';
  return demands === 'any token' ? demands : [...new Set(demands.map(wordOf))].join(', ');
};

/** Describes the rows. If they differ, the result names the case of each (`when`). */
const inWords = (rows: readonly MatrixRow[], wordsOf: (row: MatrixRow) => string): string =>
  [...Map.groupBy(rows, wordsOf)]
    .map(([words, of], _, all) => {
      const whens = of.flatMap(({ condition }) => condition ?? []);
      return all.length === 1 || whens.length < of.length ? words : `${whens.join(', ')}: ${words}`;
    })
    .join('; ');

/** Returns the permissions that the route needs, by case if they depend on the case. */
export const permissionsOf = ({ rows }: DocumentedRoute): string => inWords(rows, describeDemands);

const describeEntries = ({ trail = [] }: MatrixRow): string => trail.map((entry) => `\`${entry}\``).join(', ') || '–';

/** Returns the audit entries that a success of the route adds, by case if they depend on the case. */
export const trailOf = ({ rows }: DocumentedRoute): string => inWords(rows, describeEntries);
