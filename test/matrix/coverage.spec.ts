import { describe, expect, it } from '@jest/globals';
import { permissions, type Permission } from '#access';
import { listEndpointModules, routesOf } from '../support/gateway-routes.js';
import { BY_HAND } from './manual-rows.js';
import { addressOf, nameOf, type ExpectedAccess, type MatrixRow } from './matrix.js';
import { ROWS } from './rows/index.js';

const rows: readonly MatrixRow[] = Object.values(ROWS).flat();

/** Replaces the names of parameters, which may differ. */
const shape = (method: string, path: string): string => `${method} ${path.replaceAll(/:\w+/g, ':')}`;

const anyParams: Readonly<Record<string, string>> = new Proxy({}, { get: () => ':' });

const matrixRoutes = (): Set<string> =>
  new Set(
    rows.map((row) => {
      const { method, path } = addressOf(row, anyParams);
      return `${method} ${path}`;
    }),
  );

const served = async (): Promise<string[]> => {
  const endpointModules = await listEndpointModules();
  return endpointModules
    .flatMap(({ controllers }) => controllers.flatMap(routesOf))
    .map(({ method, path }) => shape(method, path))
    .toSorted();
};

const permissionsOf = (demand: ExpectedAccess): readonly Permission[] => {
  if (typeof demand === 'string') return [demand];
  return 'anyOf' in demand ? demand.anyOf : [demand[0]];
};

/** Permissions that no row requires, with the reason. */
const ELSEWHERE: Partial<Record<Permission, string>> = {
  'list-organization': 'decides what the list of organizations shows, and refuses nothing',
  'change-email': 'decides whether a new e-mail address is confirmed at once, and refuses nothing',
  'leave-organization': 'allows members to leave without another permission',
  'manage-run-tasks': 'there are no run tasks yet, so only documents show it',
};

describe('the matrix', () => {
  it('has a row for every route of the gateway', async () => {
    const covered = matrixRoutes();
    expect((await served()).filter((route) => !covered.has(route))).toEqual([]);
  });

  it('has no row for an unknown route', async () => {
    const routes = new Set(await served());
    expect([...matrixRoutes()].filter((route) => !routes.has(route))).toEqual([]);
  });

  it('has unique names of rows', () => {
    const names = rows.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('has every row that is checked by hand', () => {
    const names = new Set(rows.map(nameOf));
    expect(Object.keys(BY_HAND).filter((name) => !names.has(name))).toEqual([]);
  });

  it('requires every permission of the table in some row', () => {
    const demanded = new Set(
      rows.flatMap(({ demands }) => (typeof demands === 'string' ? [] : demands.flatMap(permissionsOf))),
    );
    const all = Object.keys(permissions) as Permission[];
    expect(all.filter((permission) => !demanded.has(permission))).toEqual(Object.keys(ELSEWHERE));
  });
});
