import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import http, { type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packArchive } from '../../apps/executor/src/archives/pack-archive.js';
import { createTestExecutor, type TestExecutor } from '../support/test-executor.js';
import { waitUntil } from '../support/product.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeSitePool,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import type { ApiTestClient } from '../support/server.js';
import { readToolVersion, type CliUser } from './iac.js';
import type { CliSite } from './site.js';

/** Creates a process that executes the remote runs of the site. */
export const createSiteExecutor = async (
  { api, product }: CliSite,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestExecutor> => {
  const token = await makeAgentToken(api, await makeSitePool(api, 'executors'));
  const caFile = join(product.dataFolder, 'tls/ca.pem');
  return createTestExecutor({ url: product.url, caFile, token }, { CADASTRE_EXECUTOR_CAPACITY: '4', ...settings });
};

const EMPTY_STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.0.0',
  serial: 1,
  lineage: 'x',
  outputs: {},
  resources: [],
});

/** A server that answers when the test says so. Terraform waits for it as for the state of another workspace. */
export class Gate {
  private readonly server: Server;
  private readonly waiting: ServerResponse[] = [];
  private isOpen = false;

  constructor() {
    this.server = http.createServer((_, response) => {
      if (this.isOpen) response.end(EMPTY_STATE);
      else this.waiting.push(response);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/state`;
  }

  /** Resolves when this number of programs waits. */
  waitFor(number: number): Promise<void> {
    return waitUntil(() => this.waiting.length >= number, `${number} programs wait at the gate`);
  }

  open(): void {
    this.isOpen = true;
    for (const response of this.waiting) response.end(EMPTY_STATE);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export const hasFile = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Lets the runs of a workspace use terraform or tofu. */
export const chooseTool = async (api: ApiTestClient, workspace: string, program: string): Promise<void> => {
  const body = resource('vars', { key: 'CADASTRE_IAC_TOOL', value: program, category: 'env' });
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/vars`, body), 201);
};

/** Uploads a configuration that consists of this file. No run begins. */
export const uploadConfiguration = async (api: ApiTestClient, workspace: string, main: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-configuration-'));
  const [source, archive] = [join(folder, 'main.tf'), join(folder, 'archive.tar.gz')];
  await writeFile(source, main);
  await packArchive([{ name: 'main.tf', path: source }], archive, () => false);
  const body = resource('configuration-versions', { 'auto-queue-runs': false });
  const created = await api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, body);
  const { pathname } = new URL(expectStatus(created, 201).body.data.attributes['upload-url'] as string);
  expectStatus(await api.as(null).put(pathname, await readFile(archive)), 200);
  await rm(folder, { recursive: true });
};

/** Reads the log of a plan or an apply, such as `plans/plan-…`. */
export const readPhaseLog = async (api: ApiTestClient, phase: string): Promise<string> => {
  const { attributes } = expectStatus(await api.get(`/api/v2/${phase}`), 200).body.data;
  const { pathname } = new URL(attributes['log-read-url'] as string);
  return expectStatus(await api.as(null).get(`${pathname}?limit=1000000`), 200).text;
};

type StoredState = {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly { readonly attributes: { readonly id: string } }[];
  }[];
};

type ShownRun = {
  readonly id: string;
  readonly attributes: { readonly status: string };
  readonly relationships: { readonly apply: { readonly data: { readonly id: string } } };
};

/** An organization whose runs use one of the tools, and a person with the same tool. */
export type RemoteOrganization = {
  readonly name: string;
  readonly person: CliUser;
  /** Creates a remote workspace. Resolves to its id. */
  makeWorkspace(workspace: string, attributes?: object): Promise<string>;
  /** Creates a remote workspace. Resolves to its id, and a folder with the configuration, which is connected to it. */
  prepare(
    workspace: string,
    configuration: string,
    attributes?: object,
  ): Promise<{ readonly id: string; readonly folder: string }>;
  getState(workspace: string): Promise<StoredState>;
  /** Resolves to the newest run of the workspace. */
  getLastRun(workspace: string): Promise<ShownRun>;
};

export const openRemoteOrganization = async (
  site: CliSite,
  program: string,
  name: string,
): Promise<RemoteOrganization> => {
  const { api } = site;
  await makeOrganization(api, name);
  const person = await site.person(program);
  const makeRemoteWorkspace = async (workspace: string, attributes: object = {}): Promise<string> => {
    const settings = { 'execution-mode': 'remote', 'terraform-version': readToolVersion(program), ...attributes };
    const id = await makeWorkspace(api, name, workspace, settings);
    if (program === 'tofu') await chooseTool(api, id, program);
    return id;
  };
  return {
    name,
    person,
    makeWorkspace: makeRemoteWorkspace,
    prepare: async (workspace, configuration, attributes) => {
      const id = await makeRemoteWorkspace(workspace, attributes);
      const folder = await person.folder(site.cloud(name, `name = "${workspace}"`) + configuration);
      await person.run(folder, 'init', '-input=false');
      return { id, folder };
    },
    getState: async (workspace) => {
      const current = await api.get(`/api/v2/workspaces/${workspace}/current-state-version`);
      const { id } = expectStatus(current, 200).body.data;
      return JSON.parse(expectStatus(await api.get(`/api/v2/state-versions/${id}/download`), 200).text);
    },
    getLastRun: async (workspace) => {
      const { data } = expectStatus(await api.get(`/api/v2/workspaces/${workspace}/runs`), 200).body;
      return data[0];
    },
  };
};
