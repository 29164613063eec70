import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { peopleDefinition } from '#identity/people';
import { sql } from '#platform/kernel';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, resource } from '../../../test/support/seeds.js';
import type { ApiResponse } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { exchangeToken, startPipelines, type PipelineWorld } from '../../../test/support/workload-identities.js';
import { createExpiredWorkloadTokensJob, workloadIdentitiesDefinition } from './index.js';

let world: PipelineWorld;
let identity: string;

beforeAll(async () => {
  world = await startPipelines({ CADASTRE_MAX_TOKENS_PER_OWNER: '1' });
  identity = await world.makeIdentity();
});

afterAll(() => world.close());

const MOST = 1_000;
const CONCURRENCY = 50;

const exchange = async (): Promise<ApiResponse> => exchangeToken(world.server, identity, await world.sign());

/** Exchanges tokens until the team has as many as it can have. */
const fillTeam = async (): Promise<void> => {
  for (let n = 0; n < MOST; n += CONCURRENCY) {
    const answers = await Promise.all(Array.from({ length: CONCURRENCY }, exchange));
    for (const answer of answers) expectStatus(answer, 200);
  }
};

const countTokens = async (): Promise<number> =>
  (await world.server.get(`/api/v2/teams/${world.team}/authentication-tokens`)).body.meta.pagination[
    'total-count'
  ] as number;

const createToken = (description: string): Promise<ApiResponse> =>
  world.server.post(
    `/api/v2/teams/${world.team}/authentication-tokens`,
    resource('authentication-tokens', { description }),
  );

const runJob = (): Promise<number> => {
  const { store, runtime } = world.server;
  return runJobOnce(createExpiredWorkloadTokensJob({ store, clock: world.clock, ids: runtime.ids }));
};

describe('the tokens of a busy pipeline', () => {
  it('are at most a thousand unexpired ones, which do not count as tokens that people create', async () => {
    await fillTeam();
    const refused = await exchange();
    expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'temporarily_unavailable',
      '60',
    ]);
    expect(refused.body.error_description).toMatch(/^The pipelines of the team have 1000 tokens .* At most 1000/);
    expectStatus(await createToken('by hand'), 201);
    expectStatus(await createToken('one more'), 422);
    expect(await countTokens()).toBe(MOST + 1);
  });

  it('are destroyed after they have expired, and no others', async () => {
    expect(await runJob()).toBe(0);
    world.clock.pass({ minutes: 61 });
    // Expired tokens leave room for new ones before the job runs.
    expectStatus(await exchange(), 200);
    expect(await runJob()).toBe(MOST);
    expect(await runJob()).toBe(0);
    expect(await countTokens()).toBe(2);
    const destroyed = await world.server.database.rows(sql`
      select 1 from event_store.events where type = 'AuthenticationTokenDestroyed'`);
    expect(destroyed).toHaveLength(MOST);
  });

  it('end with their team, also if they are many', async () => {
    world.clock.pass({ minutes: 61 });
    expect(await runJob()).toBe(1);
    await fillTeam();
    expectStatus(await world.server.delete(`/api/v2/teams/${world.team}`), 204);
    expect(
      await world.server.database.rows(sql`select 1 from authentication_tokens where owner = ${world.team}`),
    ).toEqual([]);
    await expectViewsMatchLog(world.server, [peopleDefinition, workloadIdentitiesDefinition]);
  });
});
