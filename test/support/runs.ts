import { verifyView, listViews } from '#storage/event-store';
import { runsDefinition } from '#runs/runs';
import { waitForFollowers } from './event-log.js';
import { TickingClock } from './clocks.js';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeWorkspace,
  reportBody,
} from './seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from './server.js';

/** A server with the organization `acme`, and a client of an executor whose pool serves all workspaces. */
export type RunSite = { readonly server: TestServer; readonly agents: ApiTestClient };

/** Starts a server whose clock never gives two equal timestamps, so that the order of runs is unique. */
export const startRunSite = async (env: Readonly<Record<string, string>> = {}) => {
  const clock = new TickingClock();
  const server = await startTestServer({ clock, followers: true, env });
  const organization = await makeOrganization(server, 'acme');
  const pool = await makeRemotePool(server, 'acme', 'edge');
  const agents = server.as(await makeAgentToken(server, pool));
  return { server, clock, organization, pool, agents };
};

export type RunRequests = ReturnType<typeof runRequests>;

/** Returns the requests that specs about runs use. `site` is called only when a request is sent. */
export const runRequests = (site: () => RunSite) => {
  let workspaces = 0;
  const show = async (id: string, api: ApiTestClient = site().server) =>
    expectStatus(await api.get(`/api/v2/runs/${id}`), 200).body.data;
  const report = (
    id: string,
    status: string,
    attributes: object = {},
    api: ApiTestClient = site().agents,
  ): Promise<ApiResponse> => api.post(`/api/v2/runs/${id}/progress`, reportBody(status, attributes));
  const workspaceOf = async (id: string) =>
    expectStatus(await site().server.get(`/api/v2/workspaces/${id}`), 200).body.data;
  return {
    /** Creates a workspace with a configuration version. */
    aWorkspace: async (attributes: object = {}, relationships?: object): Promise<string> => {
      const { server } = site();
      const id = await makeWorkspace(server, 'acme', `ws-${(workspaces += 1)}`, attributes, relationships);
      await makeConfigurationVersion(server, id);
      return id;
    },
    show,
    statusOf: async (id: string): Promise<string> => (await show(id)).attributes.status as string,
    act: (id: string, action: string, body?: unknown, api: ApiTestClient = site().server): Promise<ApiResponse> =>
      api.post(`/api/v2/runs/${id}/actions/${action}`, body),
    report,
    reported: async (id: string, ...statuses: readonly string[]): Promise<void> => {
      for (const status of statuses) expectStatus(await report(id, status, { 'has-changes': true }), 200);
    },
    workspaceOf,
    holderOf: async (id: string): Promise<unknown> => (await workspaceOf(id)).relationships['locked-by'].data,
    queueCaughtUp: (): Promise<void> => waitForFollowers(site().server.store, 'run_queue'),
    /** Returns the differences between views and log, by name of the view. */
    differences: async (): Promise<readonly unknown[]> => {
      const { store } = site().server;
      const compared = listViews([runsDefinition]).map(async (view) => [
        view.name,
        await verifyView(store, view, new Date()),
      ]);
      return (await Promise.all(compared)).filter(([, differences]) => differences?.length !== 0);
    },
  };
};
