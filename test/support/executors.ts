import { expectStatus, resource } from './seeds.js';
import type { ApiResponse, ApiTestClient } from './server.js';

const NONCE = 'nonce-of-the-first-process';

/** Returns the requests of executors, with a client that has the token of their pool. */
export const executorRequests = (site: () => { readonly agents: ApiTestClient; readonly pool: string }) => {
  const post = (path: string, body?: object): Promise<ApiResponse> => site().agents.post(`/api/v2/${path}`, body);
  /** Registers an agent, which claims the next run. */
  const claim = async () => {
    const registered = await post(`agent-pools/${site().pool}/agents`, resource('agents', { name: 'one' }));
    const agent = expectStatus(registered, 201).body.data.id as string;
    return expectStatus(await post(`agents/${agent}/actions/claim`), 200).body.data;
  };
  const readJob = (run: string, attributes: object = {}, api: ApiTestClient = site().agents): Promise<ApiResponse> =>
    api.post(`/api/v2/runs/${run}/job`, resource('run-jobs', { fence: 1, nonce: NONCE, ...attributes }));
  return {
    claim,
    readJob,
    jobOf: async (run: string, attributes: object = {}) =>
      expectStatus(await readJob(run, attributes), 200).body.data.attributes,
  };
};
