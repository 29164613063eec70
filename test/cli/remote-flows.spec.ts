import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestExecutor } from '../support/test-executor.js';
import { contentOf, waitUntil } from '../support/product.js';
import { makeModule, packModule, publishModuleVersion } from '../support/registry-modules.js';
import { makeDist } from '../support/release-folders.js';
import { makeSigner } from '../support/releases.js';
import { startGitServer } from '../support/git-over-ssh.js';
import { expectStatus, makeRun, resource } from '../support/seeds.js';
import { flat, hasIacTools, type CliUser } from './iac.js';
import {
  createSiteExecutor,
  Gate,
  hasFile,
  openRemoteOrganization,
  readPhaseLog,
  uploadConfiguration,
  type RemoteOrganization,
} from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// The options of the clients in remote workspaces, and what people do to a run while the clients wait for it.

const LONG = 180_000;

let site: CliSite;
let executor: TestExecutor;

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  site = await openSite();
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

const CONFIGURATION = `
  variable "greeting" { default = "hello" }
  resource "terraform_data" "first" { input = var.greeting }
  resource "terraform_data" "second" { input = "second" }
  output "what" { value = terraform_data.first.output }
`;

/** Returns a configuration whose plan waits until the gate at this address opens. */
const waitAt = (address: string): string => `
  data "terraform_remote_state" "other" {
    backend = "http"
    config  = { address = "${address}", retry_max = 0 }
  }
`;

/** What a client prints after the second Ctrl-C: it either waits for the answer, or is about to ask. */
const ABANDONED = /Two interrupts received|asking to cancel: interrupted/;

const APPLY = ['apply', '-input=false', '-auto-approve'] as const;

for (const program of hasIacTools) {
  describe(`with ${program}`, () => {
    let remote: RemoteOrganization;
    let person: CliUser;

    beforeAll(async () => {
      remote = await openRemoteOrganization(site, program, `flows-of-${program}`);
      ({ person } = remote);
    }, LONG);

    afterAll(() => person?.leave());

    const getStatus = async (id: string): Promise<string> => (await remote.getLastRun(id)).attributes.status;

    const waitForStatus = (id: string, status: string): Promise<void> =>
      waitUntil(async () => (await getStatus(id)) === status, `the run is ${status}`);

    const isLocked = async (id: string): Promise<boolean> =>
      expectStatus(await site.api.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes.locked;

    const listNames = async (id: string): Promise<readonly string[]> =>
      (await remote.getState(id)).resources.map(({ name }) => name);

    it(
      'a plan is saved, shown, and applied once',
      async () => {
        const { folder, id } = await remote.prepare('saved', CONFIGURATION);
        const planned = flat(await person.run(folder, 'plan', '-input=false', '-out=saved.tfplan'));
        expect(planned).toContain('Plan: 2 to add');
        expect([await getStatus(id), await isLocked(id)]).toEqual(['planned_and_saved', false]);
        expect(flat(await person.run(folder, 'show', 'saved.tfplan'))).toContain(
          'terraform_data.first will be created',
        );
        const document = JSON.parse(await person.run(folder, 'show', '-json', 'saved.tfplan')) as {
          readonly resource_changes: readonly { readonly address: string }[];
        };
        expect(document.resource_changes.map(({ address }) => address)).toEqual([
          'terraform_data.first',
          'terraform_data.second',
        ]);
        expect(flat(await person.run(folder, 'apply', '-input=false', 'saved.tfplan'))).toContain('2 added');
        const again = await person.attempt(folder, 'apply', '-input=false', 'saved.tfplan');
        expect([again.code, flat(again.output)]).toEqual([1, expect.stringContaining('Saved plan is already applied')]);
      },
      LONG,
    );

    it(
      '-target, -var, -replace and -refresh-only do what they do in local runs',
      async () => {
        const { folder, id } = await remote.prepare('options', CONFIGURATION);
        const targeted = await person.run(folder, ...APPLY, '-target=terraform_data.first', '-var=greeting=hi');
        expect(flat(targeted)).toContain('what = "hi"');
        expect(await listNames(id)).toEqual(['first']);
        const options = ['-replace=terraform_data.first', '-refresh=false', '-var=greeting=hi'];
        const replaced = flat(await person.run(folder, 'plan', '-input=false', ...options));
        expect(replaced).toContain('terraform_data.first will be replaced, as requested');
        expect(replaced).toContain('Plan: 2 to add, 0 to change, 1 to destroy.');
        const refreshed = flat(await person.run(folder, 'plan', '-input=false', '-refresh-only', '-var=greeting=hi'));
        expect(refreshed).toContain('No changes. Your infrastructure still matches the configuration.');
        expect(await listNames(id)).toEqual(['first']);
      },
      LONG,
    );

    it(
      '-json plans and applies, and the client prints the output of the run as text',
      async () => {
        const { folder, id } = await remote.prepare('json', CONFIGURATION);
        // The clients print only their own messages as JSON. The log of the run has JSON, which programs can read.
        const expectVersionThen = (output: string, text: string): void => {
          expect(JSON.parse(output.split('\n')[0] ?? '')).toMatchObject({ type: 'version' });
          expect(flat(output)).toContain(text);
        };
        const planned = await person.run(folder, 'plan', '-input=false', '-json');
        expectVersionThen(planned, 'Plan: 2 to add, 0 to change, 0 to destroy.');
        const applied = await person.run(folder, ...APPLY, '-json');
        expectVersionThen(applied, 'Apply complete! Resources: 2 added, 0 changed, 0 destroyed.');
        expect([await getStatus(id), await listNames(id)]).toEqual(['applied', ['first', 'second']]);
        const run = await remote.getLastRun(id);
        const log = await readPhaseLog(site.api, `applies/${run.relationships.apply.data.id}`);
        const types = log.match(/"type":"(?:apply_complete|change_summary|outputs)"/g);
        expect(types?.toSorted()).toEqual([
          '"type":"apply_complete"',
          '"type":"apply_complete"',
          '"type":"change_summary"',
          '"type":"outputs"',
        ]);
      },
      LONG,
    );

    it(
      '-input=false leaves the run to others, and -lock-timeout cancels the run that waits for it',
      async () => {
        const { folder, id } = await remote.prepare('unattended', CONFIGURATION);
        const refused = await person.attempt(folder, 'apply', '-input=false');
        expect(refused.code).toBe(1);
        expect(flat(refused.output)).toContain('Cannot confirm apply due to -input=false');
        const waiting = await remote.getLastRun(id);
        expect(waiting.attributes.status).toBe('planned');
        const cancelByTimeout = async (): Promise<boolean> => {
          const { output } = await person.attempt(folder, ...APPLY, '-lock-timeout=5s');
          expect(flat(output)).toContain('Lock timeout exceeded');
          const { id: run, attributes } = await remote.getLastRun(id);
          if (attributes.status === 'canceled') return true;
          expectStatus(await site.api.post(`/api/v2/runs/${run}/actions/cancel`, {}), 202);
          return false;
        };
        // The client interrupts itself. If that ends a read of the run, it returns without having canceled the run.
        let attempts = 1;
        while (!(await cancelByTimeout())) expect((attempts += 1)).toBeLessThan(6);
        expectStatus(await site.api.post(`/api/v2/runs/${waiting.id}/actions/discard`, {}), 202);
        await waitUntil(async () => !(await isLocked(id)), 'the workspace is unlocked');
      },
      LONG,
    );

    it(
      'Ctrl-C cancels a plan, once the person has confirmed it',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const { folder, id } = await remote.prepare('interrupted-plan', waitAt(address));
        const command = person.startInteractively(folder, 'apply');
        await gate.waitFor(1);
        command.interrupt();
        await command.waitForOutput('Do you want to cancel the remote operation?');
        command.type('yes');
        const { output } = await command.end;
        expect(flat(output)).toContain('The remote operation was successfully cancelled.');
        gate.open();
        await waitForStatus(id, 'canceled');
        expect(await isLocked(id)).toBe(false);
        gate.close();
      },
      LONG,
    );

    it(
      'Ctrl-C ends the client of a plan, also if it is pressed twice, and the plan continues',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const { folder, id } = await remote.prepare('abandoned-plan', waitAt(address));
        const command = person.startInteractively(folder, 'plan');
        await gate.waitFor(1);
        command.interrupt();
        await command.waitForOutput('Interrupt received.');
        // The client asks nothing, so a second Ctrl-C finds it while it ends, or later.
        command.interrupt();
        expect((await command.end).code).toBe(1);
        expect(await getStatus(id)).toBe('planning');
        gate.open();
        await waitForStatus(id, 'planned_and_finished');
        expect(await isLocked(id)).toBe(false);
        gate.close();
      },
      LONG,
    );

    it(
      'a second Ctrl-C while an apply is planned ends the client, and the run waits for others',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const changes = `${waitAt(address)} output "answer" { value = "changes" }`;
        const { folder, id } = await remote.prepare('abandoned-run', changes);
        const command = person.startInteractively(folder, 'apply');
        await gate.waitFor(1);
        command.interrupt();
        await command.waitForOutput('Do you want to cancel the remote operation?');
        command.interrupt();
        const { code, output } = await command.end;
        expect(code).toBe(1);
        expect(flat(output)).toMatch(ABANDONED);
        expect(await getStatus(id)).toBe('planning');
        gate.open();
        await waitForStatus(id, 'planned');
        const run = await remote.getLastRun(id);
        expectStatus(await site.api.post(`/api/v2/runs/${run.id}/actions/discard`, {}), 202);
        await waitUntil(async () => !(await isLocked(id)), 'the workspace is unlocked');
        gate.close();
      },
      LONG,
    );

    it(
      'a second Ctrl-C ends the client, and the apply continues',
      async () => {
        const [gate, count] = [join(person.home, 'interrupted'), join(person.home, 'interrupted-count')];
        const script = `echo applied >> ${count}; touch ${gate}; while [ -e ${gate} ]; do sleep 0.1; done`;
        const { folder, id } = await remote.prepare(
          'interrupted-apply',
          `resource "terraform_data" "first" {
            provisioner "local-exec" { command = ${JSON.stringify(script)} }
          }`,
        );
        const command = person.startInteractively(folder, 'apply');
        await command.waitForOutput('Enter a value:');
        command.type('yes');
        await waitUntil(() => hasFile(gate), 'the apply waits');
        command.interrupt();
        await command.waitForOutput('Do you want to cancel the remote operation?');
        command.interrupt();
        const { code, output } = await command.end;
        expect(code).toBe(1);
        expect(flat(output)).toMatch(ABANDONED);
        expect(await getStatus(id)).toBe('applying');
        await rm(gate);
        await waitForStatus(id, 'applied');
        expect([contentOf(count), await listNames(id), await isLocked(id)]).toEqual(['applied\n', ['first'], false]);
      },
      LONG,
    );

    it(
      'Ctrl-C cancels an apply, whose state is kept',
      async () => {
        const gate = join(person.home, 'canceled');
        const script = `touch ${gate}; exec sleep 600`;
        const { folder, id } = await remote.prepare(
          'canceled-apply',
          `resource "terraform_data" "first" {}
          resource "terraform_data" "second" {
            depends_on = [terraform_data.first]
            provisioner "local-exec" { command = ${JSON.stringify(script)} }
          }`,
        );
        const command = person.startInteractively(folder, ...APPLY);
        await waitUntil(() => hasFile(gate), 'the apply waits');
        command.interrupt();
        expect(flat((await command.end).output)).toContain('The remote operation was successfully cancelled.');
        await waitForStatus(id, 'canceled');
        expect([await listNames(id), await isLocked(id)]).toEqual([['first', 'second'], false]);
      },
      LONG,
    );

    it(
      'a module of a private repository is read with the SSH key of the workspace, which plan and apply do not have',
      async () => {
        const repository = await startGitServer('output "answer" { value = "from the module" }');
        const find = `find ${executor.workFolder} -name ssh-key -o -name gitconfig`;
        const command = `echo "keys: [$(${find})]"; echo "variables: [$(env | grep -e SSH_ -e GIT_CONFIG)]"`;
        const id = await remote.makeWorkspace('private-module', { 'auto-apply': true });
        const key = resource('ssh-keys', { name: 'modules', value: repository.privateKey });
        const created = await site.api.post(`/api/v2/organizations/${remote.name}/ssh-keys`, key);
        const assignment = resource('workspaces', { id: expectStatus(created, 201).body.data.id });
        expectStatus(await site.api.patch(`/api/v2/workspaces/${id}/relationships/ssh-key`, assignment), 200);
        await uploadConfiguration(
          site.api,
          id,
          `module "private" { source = "${repository.source}" }
          resource "terraform_data" "first" {
            provisioner "local-exec" { command = ${JSON.stringify(command)} }
          }
          output "answer" { value = module.private.answer }`,
        );
        const run = await makeRun(site.api, id);
        await waitUntil(async () => ['applied', 'errored'].includes(await getStatus(id)), 'the run has ended');
        const logs = [
          await readPhaseLog(site.api, `plans/plan-${run.slice(4)}`),
          await readPhaseLog(site.api, `applies/apply-${run.slice(4)}`),
        ].join('\n');
        expect({ status: await getStatus(id), logs: (await getStatus(id)) === 'applied' ? '' : logs }).toEqual({
          status: 'applied',
          logs: '',
        });
        expect(logs).toContain('keys: []');
        expect(logs).toContain('variables: []');
        expect(logs).not.toContain('PRIVATE KEY');
        expect(repository.countLogins()).toBeGreaterThan(0);
        await repository.close();
      },
      LONG,
    );

    it(
      'a provider of the organization is installed from localterraform.com',
      async () => {
        const [dist, keys, signer] = [await makeDist(), await makeDist(), await makeSigner()];
        const packed = { name: 'demo', version: '1.0.0' };
        await dist.pack(packed, 'linux_amd64');
        await keys.write('private.asc', signer.privateKey);
        await keys.write('token', site.product.adminToken);
        const options = {
          '--server': site.product.url,
          '--ca': join(site.product.dataFolder, 'tls/ca.pem'),
          '--token-file': join(keys.path, 'token'),
          '--org': remote.name,
          '--name': 'demo',
          '--key': join(keys.path, 'private.asc'),
        };
        const published = await site.product.run('provider', 'publish', ...Object.entries(options).flat(), dist.path);
        expect(published).toMatchObject({ code: 0 });
        const id = await remote.makeWorkspace('generic-host');
        const source = `localterraform.com/${remote.name}/demo`;
        await uploadConfiguration(
          site.api,
          id,
          `terraform {
            required_providers {
              demo = { source = "${source}" }
            }
          }`,
        );
        const run = await makeRun(site.api, id);
        // The program of this provider is no provider, so the run fails after the installation.
        await waitForStatus(id, 'errored');
        expect(await readPhaseLog(site.api, `plans/plan-${run.slice(4)}`)).toContain(`Installed ${source} v1.0.0`);
        await dist.remove();
        await keys.remove();
      },
      LONG,
    );

    it(
      'a module of the organization is installed from localterraform.com',
      async () => {
        await makeModule(site.api, remote.name, 'network');
        const archive = await packModule({ 'main.tf': 'output "name" {\n  value = "from the registry"\n}\n' });
        await publishModuleVersion(site.api, remote.name, 'network', '1.0.0', archive);
        const id = await remote.makeWorkspace('with-module');
        const source = `localterraform.com/${remote.name}/network/aws`;
        await uploadConfiguration(
          site.api,
          id,
          `module "network" {
            source  = "${source}"
            version = "1.0.0"
          }
          output "name" {
            value = module.network.name
          }`,
        );
        const run = await makeRun(site.api, id);
        await waitForStatus(id, 'planned');
        const log = await readPhaseLog(site.api, `plans/plan-${run.slice(4)}`);
        expect(log).toContain(`Downloading ${source} 1.0.0 for network`);
        expectStatus(await site.api.post(`/api/v2/runs/${run}/actions/discard`), 202);
      },
      LONG,
    );

    it(
      '-generate-config-out writes the configuration of imported resources',
      async () => {
        const block = 'import {\n  to = terraform_data.imported\n  id = "thing-1"\n}\n';
        const { folder } = await remote.prepare('imports', block);
        const text = flat(await person.run(folder, 'plan', '-input=false', '-generate-config-out=generated.tf'));
        expect(text).toContain('Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.');
        expect(contentOf(join(folder, 'generated.tf'))).toContain('resource "terraform_data" "imported"');
        expect(flat(await person.run(folder, ...APPLY))).toContain('1 imported');
      },
      LONG,
    );

    it(
      'two people apply one after the other, also with the block "remote" and without structured output',
      async () => {
        const { folder, id } = await remote.prepare('shared', CONFIGURATION, {
          'structured-run-output-enabled': false,
        });
        const other = await site.person(program);
        const backend = site.cloud(remote.name, 'name = "shared"').replace('cloud {', 'backend "remote" {');
        const otherFolder = await other.folder(backend + CONFIGURATION.replace('"hello"', '"good morning"'));
        await other.run(otherFolder, 'init', '-input=false');
        const outputs = await Promise.all([person.run(folder, ...APPLY), other.run(otherFolder, ...APPLY)]);
        for (const output of outputs) expect(flat(output)).toMatch(/Apply complete! Resources: \d added/);
        expect(outputs.filter((output) => flat(output).includes('2 added, 0 changed'))).toHaveLength(1);
        expect(outputs.filter((output) => flat(output).includes('0 added, 1 changed'))).toHaveLength(1);
        expect((await listNames(id)).toSorted()).toEqual(['first', 'second']);
        await other.leave();
      },
      LONG,
    );

    it(
      'an apply waits while another person has locked the workspace',
      async () => {
        const { folder, id } = await remote.prepare('locked', CONFIGURATION);
        expectStatus(await site.api.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'repair' }), 200);
        const command = person.startIn(folder, ...APPLY);
        await command.waitForOutput('Waiting for the manually locked workspace to be unlocked');
        expect(await getStatus(id)).toBe('pending');
        expectStatus(await site.api.post(`/api/v2/workspaces/${id}/actions/unlock`, {}), 200);
        const { code, output } = await command.end;
        expect([code, flat(output)]).toEqual([0, expect.stringContaining('2 added')]);
      },
      LONG,
    );
  });
}
