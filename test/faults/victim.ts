import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { answered, makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import type { Answer, Api } from '../support/server.js';

/** Between two requests, so that the victim stays far below its own rate limit. */
const PAUSE_MS = 15;

export type Experience = {
  /** Each answer that was not the expected one, in words. */
  readonly errors: readonly string[];
  /** Milliseconds, of every request that was answered as expected. */
  readonly latencies: readonly number[];
};

/** The latency that 99 of 100 requests stay below, in milliseconds. */
export const p99 = ({ latencies }: Experience): number => {
  const ordered = latencies.toSorted((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * 0.99))] ?? Number.POSITIVE_INFINITY;
};

/** A team at work beside an attacker: it reads and writes its workspace and polls its audit trail, one request at a time. */
export class Victim {
  private sent = 0;

  private constructor(
    private readonly api: Api,
    private readonly trail: Api,
    private readonly workspace: string,
  ) {}

  /** `api` is the victim's own: the token of an owner of a new organization. */
  static async settle(api: Api, organization: string): Promise<Victim> {
    await makeOrganization(api, organization);
    const workspace = await makeWorkspace(api, organization, 'production');
    return new Victim(api, api.as(await makeOrganizationToken(api, organization)), workspace);
  }

  /** Works until the promise settles. */
  async workDuring(attack: Promise<unknown>): Promise<Experience> {
    const latencies: number[] = [];
    const errors: string[] = [];
    let isOver = false;
    const over = attack.finally(() => (isOver = true));
    while (!isOver) {
      const next = this.sent++ % this.requests.length;
      const [name, request] = this.requests[next] as (typeof this.requests)[number];
      const started = performance.now();
      try {
        answered(await request(), 200);
        latencies.push(performance.now() - started);
      } catch (error) {
        errors.push(`${name}: ${(error as Error).message}`);
      }
      await wait(PAUSE_MS);
    }
    await over;
    return { latencies, errors };
  }

  private readonly requests: readonly (readonly [name: string, request: () => Promise<Answer>])[] = [
    ['show', () => this.api.get(`/api/v2/workspaces/${this.workspace}`)],
    ['lock', () => this.api.post(`/api/v2/workspaces/${this.workspace}/actions/lock`, { reason: 'work' })],
    ['account', () => this.api.get('/api/v2/account/details')],
    ['unlock', () => this.api.post(`/api/v2/workspaces/${this.workspace}/actions/unlock`)],
    ['trail', () => this.trail.get('/api/v2/organization/audit-trail?page[size]=20')],
  ];
}
