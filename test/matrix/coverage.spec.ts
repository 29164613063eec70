import { describe, expect, it } from '@jest/globals';
import { listSufficientRoles, permissions, READING_PERMISSIONS, type Permission, type Role } from '#api/access';
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
};

/** Permissions that decide what a document shows to callers that read it, with the reason. */
const SHOWN_BY: Partial<Record<Permission, string>> = {
  'list-organization': 'decides what the list of organizations shows',
  'manage-agent-pools': 'decides which workspaces of an agent pool are shown',
  'manage-memberships': 'decides whether memberships show when the person was last active',
};

/** Roles of callers that are no users. Their tokens cannot be restricted. */
const NOT_OF_USERS: readonly Role[] = ['organization-token', 'audit-token', 'agent', 'run', 'scim'];

const readingRoutes = new Set(['POST /organizations/:organization/reserved-tag-keys/actions/preview']);

const isReading = ({ route }: MatrixRow): boolean => route.startsWith('GET ') || readingRoutes.has(route);

const demandedBy = (selected: readonly MatrixRow[]): ReadonlySet<Permission> =>
  new Set(selected.flatMap(({ demands }) => (typeof demands === 'string' ? [] : demands.flatMap(permissionsOf))));

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
    const demanded = demandedBy(rows);
    const all = Object.keys(permissions) as Permission[];
    expect(all.filter((permission) => !demanded.has(permission))).toEqual(Object.keys(ELSEWHERE));
  });

  it('requires the permissions of read-only tokens, and no others, in rows that change nothing', () => {
    const demanded = demandedBy(rows.filter(isReading));
    const ofUsers = [...demanded].filter((permission) =>
      listSufficientRoles(permission).some((role) => !NOT_OF_USERS.includes(role)),
    );
    expect([...READING_PERMISSIONS].toSorted()).toEqual(
      [...new Set([...ofUsers, ...(Object.keys(SHOWN_BY) as Permission[])])].toSorted(),
    );
  });
});
