import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followerMetrics } from '../../libs/event-store/followers/follower.metrics.js';
import { sql } from '#kernel';
import { moduleDefinitions, createFileSweepers } from '../../apps/modules.js';
import { waitForFollowers, logLength } from '../support/event-log.js';
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

/** Another one by TEST_CROWD_SEED, and a failure tells which. */
const SEED = Number(process.env['TEST_CROWD_SEED'] ?? 5);
const WORKSPACES = 200;
const WRITERS = 20;
const TURNS = 3_000;

const PENDING = 'latest state version is still pending';

let server: TestServer;
let agents: ApiTestClient;
/** Who may do all of it or much, under names of their own. */
let callers: readonly ApiTestClient[];
let known: ConcurrentState;
const told: { readonly what: string; readonly deed: ConcurrentAction; readonly answer: ApiResponse }[] = [];

/** Of all followers of this process, so of those of specs before, too. */
const failures = async (): Promise<unknown> => (await followerMetrics.failures.get()).values;
let failuresBefore: unknown;

/** Each has the next turn when they are through with the last. */
const together = async (turns: number, take: (turn: number, writer: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const write = async (_: unknown, writer: number): Promise<void> => {
    while (next < turns) await take((next += 1), writer);
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
};

/** Each as often as it weighs. */
const CHOICES = [...CONCURRENT_ACTIONS].flatMap((entry) => Array.from({ length: entry[1].weight }, () => entry));

const takeTurn = async (n: number, writer: number): Promise<void> => {
  const turn = new ConcurrentStep(callers[writer % callers.length] ?? server, agents, known, `${SEED} ${n}`);
  const [what, deed] = turn.pick(CHOICES);
  told.push({ what, deed, answer: await deed.send(turn) });
};

const isAllowed = ({ done, refused }: ConcurrentAction, { status, text }: ApiResponse): boolean =>
  status === done || (refused.includes(status) && (status !== 503 || text.includes(PENDING)));

beforeAll(async () => {
  failuresBefore = structuredClone(await failures());
  server = await startTestServer({ followers: true });
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
  known = new ConcurrentState(readers, pool, await makeConfigurationVersion(server, quiet));
  known.projects.push(
    defaultProject,
    await makeProject(server, 'acme', 'land'),
    await makeProject(server, 'acme', 'sea'),
  );
  await together(WORKSPACES, async (n) => {
    // The others have the mode of their project, or of the organization.
    const own = n % 2 === 0 ? { 'execution-mode': 'remote' } : {};
    known.workspaces.push(await makeWorkspace(server, 'acme', `crowd-${n}`, own));
  });
  await together(TURNS, takeTurn);
}, 300_000);

afterAll(() => server.close());

describe(`two hundred workspaces and twenty who write whatever comes to their minds, with seed ${SEED}`, () => {
  it('are told only what fits: nothing fails, and nobody is sent away because of the crowd', () => {
    const absurd = told.filter(({ deed, answer }) => !isAllowed(deed, answer));
    expect(absurd.map(({ what, answer: { status, text } }) => ({ what, status, text }))).toEqual([]);
  });

  it('have done everything that there is to do', () => {
    const done = new Set(told.filter(({ deed, answer }) => answer.status === deed.done).map(({ what }) => what));
    expect([...CONCURRENT_ACTIONS.keys()].filter((what) => !done.has(what))).toEqual([]);
  });
});

/** Resolves when every follower has read all, also what the queue of runs has added to it meanwhile. */
const followersAreThrough = async (): Promise<void> => {
  const followers = [
    ...moduleDefinitions.flatMap((slice) => slice.followers),
    ...createFileSweepers(server.runtime.blobs),
  ];
  for (;;) {
    const length = await logLength(server.store);
    for (const { name } of followers) await waitForFollowers(server.store, name);
    if ((await logLength(server.store)) === length) return;
  }
};

describe('after all of it', () => {
  beforeAll(followersAreThrough);

  it('no follower has failed', async () => {
    expect(await failures()).toEqual(failuresBefore);
  });

  it('views, followers and snapshots match the log', async () => {
    await expectViewsMatchLog(server, moduleDefinitions);
  });

  it('nothing but their history names workspaces that are gone', async () => {
    const columns = await server.database.rows<{ table: string; column: string }>(sql`
      select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'views' and data_type = 'text' and table_name !~ '^(history|audit)_'`);
    expect(columns).toContainEqual({ table: 'workspace_tags', column: 'workspace' });
    const dangling = columns.map(async ({ table, column }) => {
      const rows = await server.database.rows<{ id: string }>(sql`
        select distinct ${sql.raw(column)} as id from ${sql.raw(table)}
         where ${sql.raw(column)} like 'ws-%' and ${sql.raw(column)} not in (select id from workspaces)`);
      return rows.map(({ id }) => `${table}.${column} ${id}`);
    });
    expect((await Promise.all(dangling)).flat()).toEqual([]);
  });

  it('no run waits for a workspace that nobody holds', async () => {
    const forgotten = await server.database.rows(sql`
      select r.id from runs r join workspaces w on w.id = r.workspace
       where r.status = 'pending' and w.lock is null`);
    expect(forgotten).toEqual([]);
  });
});
