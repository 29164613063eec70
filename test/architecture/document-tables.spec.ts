import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getRouteOptions, type DocumentKind } from '#api/access';
import { DocumentMemory } from '#api/document-cache';
import type { Sql } from '#platform/kernel';
import { listEndpointModules } from '../support/gateway-routes.js';
import { planFor } from '../support/plans.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  type SeededMember,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

// Gateways keep documents until an event changes one of the tables that the kind of document names. A table that is
// missing there would leave documents out of date.

let server: TestServer;
let member: SeededMember;
let workspace: string;
let project: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ defaultProject: project } = await makeOrganization(server, 'acme'));
  workspace = await makeWorkspace(server, 'acme', 'kept');
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  await grantProjectAccess(server, team, project, 'read');
  member = await makeMember(server, 'acme', 'member', [team]);
});

afterAll(() => server.close());

/** The addresses of each kind of document. */
const ADDRESSES: Readonly<Record<string, () => readonly string[]>> = {
  workspace: () => [`/api/v2/workspaces/${workspace}`, '/api/v2/organizations/acme/workspaces/kept'],
  'workspace-list': () =>
    [
      '',
      '?page%5Bsize%5D=1',
      '?sort=current-run.created-at',
      '?sort=-latest-change-at',
      '?search%5Bname%5D=kept',
      '?search%5Bwildcard-name%5D=*ept',
      '?search%5Btags%5D=flat',
      '?search%5Bexclude-tags%5D=other',
      '?filter%5Btag-gaps%5D=true',
      '?filter%5Blocked%5D=true',
      '?filter%5Blocked%5D=false',
      '?filter%5Btagged%5D%5B0%5D%5Bkey%5D=flat',
      '?filter%5Btagged%5D%5B0%5D%5Bkey%5D=bound&filter%5Btagged%5D%5B0%5D%5Bvalue%5D=v',
      `?filter%5Bproject%5D%5Bid%5D=${project}`,
      '?filter%5Bcurrent-run%5D%5Bstatus%5D=pending',
    ].map((query) => `/api/v2/organizations/acme/workspaces${query}`),
};

const listKinds = async (): Promise<readonly DocumentKind[]> => {
  const handlers = (await listEndpointModules()).flatMap(({ controllers }) =>
    controllers.flatMap(({ prototype }: { readonly prototype: object }) =>
      Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }: PropertyDescriptor) =>
        typeof value === 'function' ? [value as object] : [],
      ),
    ),
  );
  return [...new Set(handlers.flatMap((handler) => getRouteOptions(handler).document ?? []))];
};

/** Returns the statements that requests send while the work runs, also those that a check of the read barrier contains. */
const captureStatements = async (work: () => Promise<unknown>): Promise<readonly Sql[]> => {
  const { database } = server;
  const memory = server.resolve(DocumentMemory);
  const select = memory.select.bind(memory);
  const sent: Sql[] = [];
  const rows = database.rows.bind(database);
  const slowRows = database.slowRows.bind(database);
  database.rows = (statement) => {
    sent.push(statement);
    return rows(statement);
  };
  database.slowRows = (caller, statement) => {
    sent.push(statement);
    return slowRows(caller, statement);
  };
  memory.select = (keys) => {
    const statement = select(keys);
    sent.push(statement);
    return statement;
  };
  try {
    await work();
    return sent;
  } finally {
    Reflect.deleteProperty(memory, 'select');
    Reflect.deleteProperty(database, 'rows');
    Reflect.deleteProperty(database, 'slowRows');
  }
};

/** The tables with which each statement checks the caller. */
const CALLER_TABLES: ReadonlySet<string> = new Set(['token_hashes', 'epochs']);

const listTablesRead = async (address: string): Promise<readonly string[]> => {
  const tables: string[] = [];
  for (const api of [server, server.as(member.token)]) {
    await api.get('/api/v2/account/details');
    server.authenticator.forget(member.token);
    await api.get('/api/v2/account/details');
    const statements = await captureStatements(async () => expectStatus(await api.get(address), 200));
    const plans = await Promise.all(statements.map((statement) => planFor(server.database, statement)));
    tables.push(...plans.flat().flatMap((node) => node['Relation Name'] ?? []));
  }
  // The signal of the log can read the catalog of Postgres at the same time. Documents never do.
  return tables.filter((table) => !CALLER_TABLES.has(table) && !table.startsWith('pg_'));
};

it('every kind of document that gateways keep has an address in this test', async () => {
  expect((await listKinds()).map(({ name }) => name).toSorted()).toEqual(Object.keys(ADDRESSES).toSorted());
});

it('every kind of document names exactly the tables that its statements read', async () => {
  for (const { name, tables } of await listKinds()) {
    const read = new Set<string>();
    for (const address of ADDRESSES[name]?.() ?? []) for (const table of await listTablesRead(address)) read.add(table);
    expect({ name, tables: [...read].toSorted() }).toEqual({ name, tables: tables.toSorted() });
  }
});
