import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { waitUntil } from '../support/product.js';
import { requirePrograms } from '../support/programs.js';
import { expectStatus, resource } from '../support/seeds.js';
import type { TestExecutor } from '../support/test-executor.js';
import { hasIacTools } from './iac.js';
import { createSiteExecutor, openRemoteOrganization, readPhaseLog } from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// Somebody changes files that terraform manages, and the product finds it.

/** How long an executor can take on a slow machine. */
const LONG = 240_000;
/** The first call on a machine builds the provider. */
const INSTALL_TIMEOUT_MS = 15 * 60_000;

const PLATFORM = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;

let site: CliSite;
let executor: TestExecutor;
let provider: string;
let work: string;

beforeAll(async () => {
  requirePrograms('go');
  if (hasIacTools.length === 0) return;
  const installer = join(ROOT, 'test/support/install-local-provider');
  provider = (await promisify(execFile)('bash', [installer])).stdout.trim();
  site = await openSite();
  // Providers listen at a socket below this folder, and its path can have at most 107 bytes.
  work = await mkdtemp('/tmp/work-');
  executor = await createSiteExecutor(site, { CADASTRE_EXECUTOR_WORK: work });
  await executor.start();
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await executor?.remove();
  if (work) await rm(work, { recursive: true });
  await site?.product.remove();
});

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

/** Makes a mirror with the provider in the folder. Resolves to the configuration with which clients use it. */
const makeMirror = async (home: string): Promise<string> => {
  const mirror = join(home, 'mirror');
  for (const host of ['registry.terraform.io', 'registry.opentofu.org']) {
    const folder = join(mirror, host, 'hashicorp/local/1.4.0', PLATFORM);
    await mkdir(folder, { recursive: true });
    await copyFile(provider, join(folder, 'terraform-provider-local_v1.4.0_x4'));
  }
  return `provider_installation {
    filesystem_mirror { path = ${JSON.stringify(mirror)} }
  }`;
};

for (const program of hasIacTools) {
  describe(`a health assessment with ${program}`, () => {
    it(
      'finds a file that somebody has changed, and a check that fails, and changes nothing itself',
      async () => {
        const remote = await openRemoteOrganization(site, program, `assessed-${program}`);
        const { home } = remote.person;
        await remote.person.configure(await makeMirror(home));
        const [changedFile, keptFile] = [join(home, 'changed'), join(home, 'kept')];
        const { id, folder } = await remote.prepare(
          'assessed',
          `
          resource "local_file" "changed" {
            filename = "${changedFile}"
            content  = "as terraform wrote it"
          }
          resource "local_file" "kept" {
            filename = "${keptFile}"
            content  = "as terraform wrote it"
          }
          check "kept" {
            assert {
              condition     = fileexists(local_file.kept.filename)
              error_message = "The file is gone."
            }
          }
          check "impossible" {
            assert {
              condition     = length(local_file.kept.content) < 3
              error_message = "The file is too long."
            }
          }
        `,
        );
        const variable = { key: 'TF_CLI_CONFIG_FILE', value: join(home, '.terraformrc'), category: 'env' };
        const path = `/api/v2/workspaces/${id}`;
        expectStatus(await site.api.post(`${path}/vars`, resource('vars', variable)), 201);
        await remote.person.run(folder, 'apply', '-input=false', '-auto-approve');
        await writeFile(changedFile, 'as somebody changed it');
        const state = await remote.getState(id);
        expectStatus(await site.api.patch(path, resource('workspaces', { 'assessments-enabled': true })), 200);
        expectStatus(await site.api.post(`${path}/actions/assess`), 201);
        const hasResult = async () => (await site.api.get(`${path}/current-assessment-result`)).status === 200;
        await waitUntil(hasResult, 'the workspace is assessed', LONG);
        const result = (await site.api.get(`${path}/current-assessment-result`)).body.data;
        expect(result.attributes).toMatchObject({
          succeeded: true,
          'error-msg': null,
          drifted: true,
          'resources-drifted': 1,
          'resources-undrifted': 1,
          'all-checks-succeeded': false,
          'checks-passed': 1,
          'checks-failed': 1,
        });
        expect(await readFile(changedFile, 'utf8')).toBe('as somebody changed it');
        expect(await remote.getState(id)).toEqual(state);
        const redirect = await site.api.get(`/api/v2/assessment-results/${result.id}/json-output`);
        const { pathname } = new URL(expectStatus(redirect, 307).headers.get('location') ?? '');
        const plan = expectStatus(await site.api.as(null).get(pathname), 200).body;
        expect(plan.resource_drift.map(({ address }: any) => address)).toEqual(['local_file.changed']);
        const runId = result.relationships.run.data.id as string;
        expect(await readPhaseLog(site.api, `plans/${runId.replace('run-', 'plan-')}`)).toContain('local_file.changed');
        expect(expectStatus(await site.api.get(path), 200).body.data.attributes.locked).toBe(false);
      },
      2 * LONG,
    );
  });
}
