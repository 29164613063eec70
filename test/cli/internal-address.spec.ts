import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../support/product.js';
import { addKey } from '../support/registry.js';
import { makeDist } from '../support/release-folders.js';
import { makeRelease, makeSigner, publish } from '../support/releases.js';
import { expectStatus, makeOrganization, makeRun, makeWorkspace } from '../support/seeds.js';
import type { TestExecutor } from '../support/test-executor.js';
import { hasIacTools, readToolVersion } from './iac.js';
import { chooseTool, createSiteExecutor, readPhaseLog, uploadConfiguration } from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// The executor reaches the server at an address that only it knows. Nothing can resolve the host that configurations name.

const LONG = 180_000;
const PUBLIC_HOST = 'cadastre.invalid';
const [program = 'none'] = hasIacTools;

let site: CliSite;
let executor: TestExecutor;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  site = await openSite({ CADASTRE_PUBLIC_URL: `https://${PUBLIC_HOST}` });
  await makeOrganization(site.api, 'acme');
  executor = await createSiteExecutor(site);
  await executor.start();
}, LONG);

afterAll(async () => {
  await executor?.remove();
  await site?.product.remove();
});

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

/** Executes a configuration. Resolves to the id of the run, its status, and the log of its plan. */
const execute = async (workspace: string, configuration: string, attributes: object = {}) => {
  const settings = { 'execution-mode': 'remote', 'terraform-version': readToolVersion(program), 'auto-apply': true };
  const id = await makeWorkspace(site.api, 'acme', workspace, { ...settings, ...attributes });
  if (program === 'tofu') await chooseTool(site.api, id, program);
  await uploadConfiguration(site.api, id, configuration);
  const run = await makeRun(site.api, id);
  const getStatus = async (): Promise<string> =>
    expectStatus(await site.api.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status;
  await waitUntil(async () => ['applied', 'errored'].includes(await getStatus()), 'the run has ended');
  return { id, status: await getStatus(), log: await readPhaseLog(site.api, `plans/plan-${run.slice(4)}`) };
};

const CLOUD = `cloud {
  hostname     = "${PUBLIC_HOST}"
  organization = "acme"
  workspaces { name = "reader" }
}`;

if (hasIacTools.length > 0) {
  describe(`an executor whose server has a public address out of reach, with ${program}`, () => {
    it(
      'applies runs that read the states of other workspaces',
      async () => {
        const shared = { 'global-remote-state': true };
        const source = await execute('source', 'output "greeting" { value = "hello" }', shared);
        expect(source.status).toBe('applied');
        const reader = await execute(
          'reader',
          `terraform {
            ${CLOUD}
          }
          data "terraform_remote_state" "source" {
            backend = "remote"
            config = {
              hostname     = "${PUBLIC_HOST}"
              organization = "acme"
              workspaces   = { name = "source" }
            }
          }
          resource "terraform_data" "copy" {
            input = data.terraform_remote_state.source.outputs.greeting
          }
          output "copied" { value = terraform_data.copy.output }`,
        );
        expect(reader).toMatchObject({ status: 'applied' });
        const path = `/api/v2/workspaces/${reader.id}/current-state-version-outputs`;
        const { data } = expectStatus(await site.api.get(path), 200).body;
        expect(data.map(({ attributes }: any) => [attributes.name, attributes.value])).toEqual([['copied', 'hello']]);
      },
      LONG,
    );

    it(
      'installs providers of the public host',
      async () => {
        const [dist, signer] = [await makeDist(), await makeSigner()];
        await dist.pack({ name: 'demo', version: '1.0.0' }, 'linux_amd64');
        const [file = ''] = await readdir(dist.path);
        expectStatus(await addKey(site.api, 'acme', signer), 201);
        const release = await makeRelease(site.api, 'acme', 'demo', signer);
        const archive = release.archive('linux', 'amd64', await readFile(join(dist.path, file)));
        await publish(site.api, release, signer, archive);
        const source = `${PUBLIC_HOST}/acme/demo`;
        const { log, status } = await execute(
          'provider',
          `terraform {
            required_providers {
              demo = { source = "${source}" }
            }
          }`,
        );
        // The program of this provider is no provider, so the run fails after the installation.
        expect(status).toBe('errored');
        expect(log).toContain(`Installed ${source} v1.0.0`);
        await dist.remove();
      },
      LONG,
    );
  });
}
