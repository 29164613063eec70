import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followerMetrics } from '../../libs/storage/event-store/followers/follower.metrics.js';
import { sql } from '#platform/kernel';
import { createFollowers, moduleDefinitions } from '../../apps/modules.js';
import { waitForFollowers, logLength } from '../support/event-log.js';
import { chooseSeed, countRounds, scaleLimit } from '../support/rounds.js';
import {
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeTeam,
  makeToken,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';
import { CONCURRENT_ACTIONS, ConcurrentState, ConcurrentStep, type ConcurrentAction } from './concurrent-callers.js';

/** Seed of the random choices. The title of the tests contains it. */
const SEED = chooseSeed(5);
const WORKSPACES = 200;
const WRITERS = 20;
const TURNS = countRounds(2_000);

const PENDING = 'latest state version is still pending';

let server: TestServer;
let agents: ApiTestClient;
/** Callers with all or many permissions, each under another name. */
let callers: readonly ApiTestClient[];
let state: ConcurrentState;
const responses: { readonly what: string; readonly action: ConcurrentAction; readonly answer: ApiResponse }[] = [];

/** Returns the failures of all followers of this process, which includes those of earlier specs. */
const failures = async (): Promise<unknown> => (await followerMetrics.failures.get()).values;
let failuresBefore: unknown;

/** Runs all turns on a fixed number of writers. Each writer takes the next turn when its last one has ended. */
const together = async (turns: number, take: (turn: number, writer: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const write = async (_: unknown, writer: number): Promise<void> => {
    while (next < turns) await take((next += 1), writer);
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
};

/** Each action as often as its weight. */
const CHOICES = [...CONCURRENT_ACTIONS].flatMap((entry) => Array.from({ length: entry[1].weight }, () => entry));

const takeTurn = async (n: number, writer: number): Promise<void> => {
  const turn = new ConcurrentStep(callers[writer % callers.length] ?? server, agents, state, `${SEED} ${n}`);
  const [what, action] = turn.pick(CHOICES);
  responses.push({ what, action, answer: await action.send(turn) });
};

const isAllowed = ({ done, refused }: ConcurrentAction, { status, text }: ApiResponse): boolean =>
  status === done || (refused.includes(status) && (status !== 503 || text.includes(PENDING)));

beforeAll(async () => {
  failuresBefore = structuredClone(await failures());
  server = await startTestServer({ followers: true, env: { CADASTRE_RECOVERABLE_DAYS: '0' } });
  const { ownersTeam, defaultProject } = await makeOrganization(server, 'acme');
  const member = await makeMember(server, 'acme', 'ada', [ownersTeam]);
  const crew = await makeTeam(server, 'acme', 'crew', { 'organization-access': { 'manage-projects': true } });
  callers = [
    server,
    member,
    server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`)),
    server.as(await makeToken(server, `/api/v2/teams/${crew}/authentication-token`)),
    server.as(await makeOrganizationToken(server, 'acme')),
  ];
  const pool = await makeRemotePool(server, 'acme', 'edge');
  agents = server.as(await makeAgentToken(server, pool));
  const quiet = await makeWorkspace(server, 'acme', 'quiet');
  const readers = await makeTeam(server, 'acme', 'readers');
  state = new ConcurrentState(readers, pool, await makeConfigurationVersion(server, quiet));
  state.projects.push(
    defaultProject,
    await makeProject(server, 'acme', 'land'),
    await makeProject(server, 'acme', 'sea'),
  );
  await together(WORKSPACES, async (n) => {
    // The other workspaces use the mode of their project or organization.
    const own = n % 2 === 0 ? { 'execution-mode': 'remote' } : {};
    state.workspaces.push(await makeWorkspace(server, 'acme', `crowd-${n}`, own));
  });
  await together(TURNS, takeTurn);
}, scaleLimit(300_000));

afterAll(() => server.close());

describe(`two hundred workspaces and twenty writers with random actions, with seed ${SEED}`, () => {
  it('every request gets an expected status, and none is refused because of the load', () => {
    const absurd = responses.filter(({ action, answer }) => !isAllowed(action, answer));
    expect(absurd.map(({ what, answer: { status, text } }) => ({ what, status, text }))).toEqual([]);
  });

  it('every kind of action succeeds at least once', () => {
    const done = new Set(
      responses.filter(({ action, answer }) => answer.status === action.done).map(({ what }) => what),
    );
    expect([...CONCURRENT_ACTIONS.keys()].filter((what) => !done.has(what))).toEqual([]);
  });
});

/** Resolves when every follower has read all events, including those that the queue of runs appends meanwhile. */
const followersAreThrough = async (): Promise<void> => {
  const followers = createFollowers(server.runtime);
  for (;;) {
    const length = await logLength(server.store);
    for (const { name } of followers) await waitForFollowers(server.store, name);
    if ((await logLength(server.store)) === length) return;
  }
};

describe('the state after all actions', () => {
  beforeAll(followersAreThrough);

  it('has no failure of a follower', async () => {
    expect(await failures()).toEqual(failuresBefore);
  });

  it('has views, followers and snapshots that match the log', async () => {
    await expectViewsMatchLog(server, moduleDefinitions);
  });

  it('names deleted workspaces only in history, in the audit trail, and for live streams that send the deletion', async () => {
    const columns = await server.database.rows<{ table: string; column: string }>(sql`
      select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'views' and data_type = 'text' and table_name !~ '^(history_|audit_|granted_scopes$)'`);
    expect(columns).toContainEqual({ table: 'workspace_tags', column: 'workspace' });
    const dangling = columns.map(async ({ table, column }) => {
      const rows = await server.database.rows<{ id: string }>(sql`
        select distinct ${sql.raw(column)} as id from ${sql.raw(table)}
         where ${sql.raw(column)} like 'ws-%' and ${sql.raw(column)} not in (select id from workspaces)`);
      return rows.map(({ id }) => `${table}.${column} ${id}`);
    });
    expect((await Promise.all(dangling)).flat()).toEqual([]);
  });

  it('has no pending run of an unlocked workspace', async () => {
    const forgotten = await server.database.rows(sql`
      select r.id from runs r join workspaces w on w.id = r.workspace
       where r.status = 'pending' and w.lock is null`);
    expect(forgotten).toEqual([]);
  });
});
