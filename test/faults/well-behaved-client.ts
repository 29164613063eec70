import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { expectStatus, makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';

/** Pause between two requests, so that the victim stays far below its own rate limit. */
const PAUSE_MS = 15;

export type LatencyReport = {
  /** Descriptions of all unexpected responses. */
  readonly errors: readonly string[];
  /** Milliseconds of all requests with the expected response. */
  readonly latencies: readonly number[];
};

/** Returns the latency that 99 of 100 requests stay below, in milliseconds. */
export const p99 = ({ latencies }: LatencyReport): number => {
  const ordered = latencies.toSorted((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * 0.99))] ?? Number.POSITIVE_INFINITY;
};

/**
 * A team at work beside an attacker. It reads and writes its workspace and polls its audit trail, one request at a
 * time.
 */
export class WellBehavedClient {
  private sent = 0;

  private constructor(
    private readonly api: ApiTestClient,
    private readonly trail: ApiTestClient,
    private readonly workspace: string,
  ) {}

  /** `api` has the token of the victim, an owner of the new organization. */
  static async settle(api: ApiTestClient, organization: string): Promise<WellBehavedClient> {
    await makeOrganization(api, organization);
    const workspace = await makeWorkspace(api, organization, 'production');
    return new WellBehavedClient(api, api.as(await makeOrganizationToken(api, organization)), workspace);
  }

  /** Sends this number of requests. */
  async work(requests: number): Promise<LatencyReport> {
    const latencies: number[] = [];
    const errors: string[] = [];
    for (let n = 0; n < requests; n += 1) {
      const next = this.sent++ % this.requests.length;
      const [name, request] = this.requests[next] as (typeof this.requests)[number];
      const started = performance.now();
      try {
        expectStatus(await request(), 200);
        latencies.push(performance.now() - started);
      } catch (error) {
        errors.push(`${name}: ${(error as Error).message}`);
      }
      await wait(PAUSE_MS);
    }
    return { latencies, errors };
  }

  private readonly requests: readonly (readonly [name: string, request: () => Promise<ApiResponse>])[] = [
    ['show', () => this.api.get(`/api/v2/workspaces/${this.workspace}`)],
    ['lock', () => this.api.post(`/api/v2/workspaces/${this.workspace}/actions/lock`, { reason: 'work' })],
    ['account', () => this.api.get('/api/v2/account/details')],
    ['unlock', () => this.api.post(`/api/v2/workspaces/${this.workspace}/actions/unlock`)],
    ['trail', () => this.trail.get('/api/v2/organization/audit-trail?page[size]=20')],
  ];
}
