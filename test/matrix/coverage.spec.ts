import { describe, expect, it } from '@jest/globals';
import { permissions, type Permission } from '#access';
import { listEndpointModules, routesOf } from '../support/gateway-routes.js';
import { BY_HAND } from './manual-rows.js';
import { addressOf, nameOf, type ExpectedAccess, type MatrixRow } from './matrix.js';
import { ROWS } from './rows/index.js';

const rows: readonly MatrixRow[] = Object.values(ROWS).flat();

/** Names of parameters are nobody's business. */
const shape = (method: string, path: string): string => `${method} ${path.replaceAll(/:\w+/g, ':')}`;

const anyParams: Readonly<Record<string, string>> = new Proxy({}, { get: () => ':' });

const asked = (): Set<string> =>
  new Set(
    rows.map((row) => {
      const { method, path } = addressOf(row, anyParams);
      return `${method} ${path}`;
    }),
  );

const served = async (): Promise<string[]> => {
  const rooms = await listEndpointModules();
  return rooms
    .flatMap(({ controllers }) => controllers.flatMap(routesOf))
    .map(({ method, path }) => shape(method, path))
    .toSorted();
};

const permissionsOf = (demand: ExpectedAccess): readonly Permission[] => {
  if (typeof demand === 'string') return [demand];
  return 'anyOf' in demand ? demand.anyOf : [demand[0]];
};

/** Permissions that no row demands, and why. */
const ELSEWHERE: Partial<Record<Permission, string>> = {
  'list-organization': 'decides what the list of organizations shows, and refuses nothing',
  'change-email': 'decides whether a new address of one’s own is confirmed at once, and refuses nothing',
  'leave-organization': 'spares one who is leaving from being asked for another permission',
  'manage-run-tasks': 'there are no run tasks yet: documents show it',
};

describe('the matrix', () => {
  it('has a row for every route of the gateway: who adds a route says here who may', async () => {
    const known = asked();
    expect((await served()).filter((route) => !known.has(route))).toEqual([]);
  });

  it('has no row for what is not served', async () => {
    const routes = new Set(await served());
    expect([...asked()].filter((route) => !routes.has(route))).toEqual([]);
  });

  it('tells its rows apart', () => {
    const names = rows.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('is checked by hand at rows that it has', () => {
    const names = new Set(rows.map(nameOf));
    expect(Object.keys(BY_HAND).filter((name) => !names.has(name))).toEqual([]);
  });

  it('asks for every row of the permission table', () => {
    const demanded = new Set(
      rows.flatMap(({ demands }) => (typeof demands === 'string' ? [] : demands.flatMap(permissionsOf))),
    );
    const all = Object.keys(permissions) as Permission[];
    expect(all.filter((permission) => !demanded.has(permission))).toEqual(Object.keys(ELSEWHERE));
  });
});
