import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestExecutor } from '../support/test-executor.js';
import { waitUntil } from '../support/product.js';
import { expectStatus, makeRunTrigger } from '../support/seeds.js';
import { flat, hasIacTools, type CliUser } from './iac.js';
import {
  createSiteExecutor,
  Gate,
  hasFile,
  openRemoteOrganization,
  uploadConfiguration,
  type RemoteOrganization,
} from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// A person plans and applies in remote workspaces, and a process of the product executes the runs.

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
  variable "secret" {
    default   = "hush-hush"
    sensitive = true
  }
  variable "greeting" { default = "hello" }
  resource "terraform_data" "first" {
    input = {
      open      = var.greeting
      closed    = var.secret
      workspace = terraform.workspace
    }
  }
  output "what" { value = terraform_data.first.output.open }
`;

const ADDED = 'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.';

for (const program of hasIacTools) {
  describe(`a remote run with ${program}`, () => {
    let remote: RemoteOrganization;
    let person: CliUser;

    beforeAll(async () => {
      remote = await openRemoteOrganization(site, program, `runs-of-${program}`);
      ({ person } = remote);
    }, LONG);

    afterAll(() => person?.leave());

    it(
      'shows the plan without its secrets in the terminal of the person',
      async () => {
        const { folder } = await remote.prepare('plan', CONFIGURATION);
        const text = flat(await person.run(folder, 'plan', '-input=false', '-var=greeting=hi'));
        expect(text).toContain('terraform_data.first will be created');
        expect(text).toContain('+ open = "hi"');
        expect(text).toContain('+ workspace = "plan"');
        expect(text).toContain('+ closed = (sensitive value)');
        expect(text).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
        expect(text).not.toContain('hush-hush');
      },
      LONG,
    );

    it(
      'is applied when the person confirms it, and the next one sees its state',
      async () => {
        const { folder, id } = await remote.prepare('confirmed', CONFIGURATION);
        const command = person.startInteractively(folder, 'apply');
        await command.waitForOutput('Enter a value:');
        command.type('yes');
        const { code, output } = await command.end;
        expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
        const text = flat(output);
        expect(text).toContain('terraform_data.first: Creation complete');
        expect(text).toContain(ADDED);
        expect(text).toContain('what = "hello"');
        expect(text).not.toContain('hush-hush');
        expect((await remote.getState(id)).resources.map(({ name }) => name)).toEqual(['first']);
        expect((await remote.getLastRun(id)).attributes.status).toBe('applied');
        expect(flat(await person.run(folder, 'plan', '-input=false'))).toContain('No changes.');
        const destroyed = flat(await person.run(folder, 'destroy', '-input=false', '-auto-approve'));
        expect(destroyed).toContain('1 destroyed');
        expect((await remote.getState(id)).resources).toEqual([]);
      },
      LONG,
    );

    it(
      'starts a run in a workspace that follows',
      async () => {
        const source = await remote.prepare('source', CONFIGURATION);
        const follower = await remote.makeWorkspace('follower', { 'auto-apply-run-trigger': true });
        await uploadConfiguration(site.api, follower, 'resource "terraform_data" "second" {}');
        await makeRunTrigger(site.api, follower, source.id);
        await person.run(source.folder, 'apply', '-input=false', '-auto-approve');
        const lastRunOf = async () => {
          const { data } = expectStatus(await site.api.get(`/api/v2/workspaces/${follower}/runs`), 200).body;
          return data[0]?.attributes as { readonly source: string; readonly status: string } | undefined;
        };
        await waitUntil(async () => (await lastRunOf())?.status === 'applied', 'the triggered run is applied');
        expect((await lastRunOf())?.source).toBe('tfe-run-trigger');
        expect((await remote.getState(follower)).resources.map(({ name }) => name)).toEqual(['second']);
      },
      LONG,
    );

    it(
      'changes nothing when the person discards it',
      async () => {
        const { folder, id } = await remote.prepare('discarded', CONFIGURATION);
        const command = person.startInteractively(folder, 'apply');
        await command.waitForOutput('Enter a value:');
        command.type('no');
        expect((await command.end).code).toBe(1);
        expect((await remote.getLastRun(id)).attributes.status).toBe('discarded');
      },
      LONG,
    );

    it(
      'gets variables in both forms and the environment of the workspace, and masks secrets of commands',
      async () => {
        const { folder, id } = await remote.prepare(
          'variables',
          `
          variable "list" { type = list(string) }
          variable "text" {}
          resource "terraform_data" "first" {
            input = [var.list, var.text]
            provisioner "local-exec" { command = "echo the token is $SECRET_TOKEN in $PLACE" }
          }
          output "all" { value = terraform_data.first.output }
        `,
        );
        const variables = [
          { key: 'list', value: '["a", "b"]', hcl: true, category: 'terraform' },
          { key: 'text', value: 'a "quoted" ${text}\nof two lines', category: 'terraform' },
          { key: 'SECRET_TOKEN', value: 'swordfish-1', sensitive: true, category: 'env' },
          { key: 'PLACE', value: 'the-open', category: 'env' },
        ];
        for (const attributes of variables)
          expectStatus(
            await site.api.post(`/api/v2/workspaces/${id}/vars`, { data: { type: 'vars', attributes } }),
            201,
          );
        const text = flat(await person.run(folder, 'apply', '-input=false', '-auto-approve'));
        expect(text).toContain('the token is *** in the-open');
        expect(text).not.toContain('swordfish-1');
        expect(JSON.parse(await person.run(folder, 'output', '-json', 'all'))).toEqual([
          ['a', 'b'],
          'a "quoted" ${text}\nof two lines',
        ]);
      },
      LONG,
    );

    it(
      'fails with the error of its plan',
      async () => {
        const { folder, id } = await remote.prepare(
          'failing-plan',
          'resource "terraform_data" "first" { input = file("missing.txt") }',
        );
        const { code, output } = await person.attempt(folder, 'plan', '-input=false');
        expect(code).toBe(1);
        expect(flat(output)).toContain('Invalid value for "path" parameter');
        expect((await remote.getLastRun(id)).attributes.status).toBe('errored');
      },
      LONG,
    );

    it(
      'names the folder that is missing in its configuration',
      async () => {
        const { folder } = await remote.prepare('misplaced', CONFIGURATION, { 'working-directory': 'live' });
        const { code, output } = await person.attempt(folder, 'plan', '-input=false');
        expect(code).toBe(1);
        expect(flat(output)).toContain('"live" of the workspace is not a folder of the uploaded configuration');
      },
      LONG,
    );

    it(
      'keeps the state of an apply that fails',
      async () => {
        const { folder, id } = await remote.prepare(
          'failing-apply',
          `
          resource "terraform_data" "first" {}
          resource "terraform_data" "second" {
            depends_on = [terraform_data.first]
            provisioner "local-exec" { command = "echo it broke; exit 7" }
          }
        `,
        );
        const { code, output } = await person.attempt(folder, 'apply', '-input=false', '-auto-approve');
        expect(code).toBe(1);
        expect(flat(output)).toContain('it broke');
        expect((await remote.getState(id)).resources.map(({ name }) => name)).toContain('first');
        expect((await remote.getLastRun(id)).attributes.status).toBe('errored');
      },
      LONG,
    );

    it(
      'ends when it is canceled while it plans',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const { folder, id } = await remote.prepare(
          'canceled',
          `data "terraform_remote_state" "other" {
            backend = "http"
            config  = { address = "${address}", retry_max = 0 }
          }`,
        );
        const command = person.startIn(folder, 'plan', '-input=false');
        await gate.waitFor(1);
        const run = await remote.getLastRun(id);
        expect(run.attributes.status).toBe('planning');
        expectStatus(await site.api.post(`/api/v2/runs/${run.id}/actions/cancel`, {}), 202);
        expect((await command.end).code).toBe(1);
        expect((await remote.getLastRun(id)).attributes.status).toBe('canceled');
        gate.close();
      },
      LONG,
    );

    it(
      'is planned again by another process after the first one was killed',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const { folder, id } = await remote.prepare(
          'killed-plan',
          `data "terraform_remote_state" "other" {
            backend  = "http"
            config   = { address = "${address}", retry_max = 0 }
            defaults = {}
          }
          output "greeting" { value = "hello" }`,
        );
        const command = person.startIn(folder, 'plan', '-input=false');
        await gate.waitFor(1);
        await executor.end('SIGKILL');
        await executor.start();
        gate.open();
        const { code, output } = await command.end;
        expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
        expect(flat(output)).toContain('greeting = "hello"');
        expect((await remote.getLastRun(id)).attributes.status).toBe('planned_and_finished');
        gate.close();
      },
      LONG,
    );

    it(
      'fails, and its state is stored, after the process that applied it was killed',
      async () => {
        const gate = join(person.home, 'gate');
        const { folder, id } = await remote.prepare(
          'killed-apply',
          `
          resource "terraform_data" "first" {}
          resource "terraform_data" "second" {
            depends_on = [terraform_data.first]
            provisioner "local-exec" { command = "touch ${gate}; while [ -e ${gate} ]; do sleep 0.1; done" }
          }
        `,
        );
        const command = person.startIn(folder, 'apply', '-input=false', '-auto-approve');
        await waitUntil(() => hasFile(gate), 'the apply waits');
        await executor.end('SIGKILL');
        await executor.start();
        await rm(gate);
        expect((await command.end).code).toBe(1);
        // OpenTofu writes its state each 20 s, and terraform after each resource.
        const names =
          program === 'terraform' ? (await remote.getState(id)).resources.map(({ name }) => name) : ['first'];
        expect(names).toContain('first');
        const { attributes } = await remote.getLastRun(id);
        expect(attributes.status).toBe('errored');
      },
      LONG,
    );

    it(
      'is applied once, and has its whole log, although the server and its database are killed in both phases',
      async () => {
        const gate = new Gate();
        const address = await gate.listen();
        const [barrier, count] = [join(person.home, 'barrier'), join(person.home, 'count')];
        const print = (from: number, to: number) =>
          `for n in $(seq ${from} ${to}); do echo "line $n of the apply"; done`;
        const script = `echo applied >> ${count}; ${print(1, 500)}; touch ${barrier}; while [ -e ${barrier} ]; do sleep 0.1; done; ${print(501, 1000)}`;
        const { folder, id } = await remote.prepare(
          'killed-server',
          `data "terraform_remote_state" "other" {
            backend  = "http"
            config   = { address = "${address}", retry_max = 0 }
            defaults = {}
          }
          resource "terraform_data" "first" {
            provisioner "local-exec" { command = ${JSON.stringify(script)} }
          }`,
        );
        const restart = async (): Promise<void> => {
          await site.product.killWithPostgres();
          await site.product.start();
        };
        const command = person.startIn(folder, 'apply', '-input=false', '-auto-approve');
        await gate.waitFor(1);
        await restart();
        gate.open();
        await waitUntil(() => hasFile(barrier), 'the apply waits');
        await restart();
        await rm(barrier);
        const getStatus = async () => (await remote.getLastRun(id)).attributes.status;
        await waitUntil(async () => ['applied', 'errored'].includes(await getStatus()), 'the run has ended');
        expect(await getStatus()).toBe('applied');
        expect(await readFile(count, 'utf8')).toBe('applied\n');
        expect((await remote.getState(id)).resources.map(({ name }) => name)).toContain('first');
        const run = await remote.getLastRun(id);
        const apply = await site.api.get(`/api/v2/applies/${run.relationships.apply.data.id}`);
        const { pathname } = new URL(expectStatus(apply, 200).body.data.attributes['log-read-url'] as string);
        const log = expectStatus(await site.api.as(null).get(`${pathname}?limit=1000000`), 200).text;
        const numbers = [...log.matchAll(/local-exec\): line (\d+) of the apply/g)].map(([, number]) => Number(number));
        expect(numbers).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
        await command.end;
        gate.close();
      },
      LONG,
    );

    it(
      'ends before the executor stops',
      async () => {
        const gate = join(person.home, 'gate');
        const { folder } = await remote.prepare(
          'stopping',
          `resource "terraform_data" "first" {
            provisioner "local-exec" { command = "touch ${gate}; while [ -e ${gate} ]; do sleep 0.1; done" }
          }`,
        );
        const command = person.startIn(folder, 'apply', '-input=false', '-auto-approve');
        await waitUntil(() => hasFile(gate), 'the apply waits');
        const stopped = executor.end('SIGTERM');
        await waitUntil(() => executor.output().includes('waiting for running phases'), 'the executor stops');
        await rm(gate);
        const { code, output } = await command.end;
        expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
        expect(await stopped).toMatchObject({ code: 0, signal: null });
        await executor.start();
      },
      LONG,
    );
  });
}
