import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { waitUntil } from '../support/product.js';
import { expectStatus, resource } from '../support/seeds.js';
import { newWorkspaceTask } from '../support/task-service.js';
import type { TestExecutor } from '../support/test-executor.js';
import { flat, hasIacTools } from './iac.js';
import { createSiteExecutor, openRemoteOrganization, type RemoteOrganization } from './remote-site.js';
import { openSite, type CliSite } from './site.js';

// A person plans and applies in a workspace whose runs consult the service in examples/run-task.

const LONG = 180_000;
const KEY = 'a shared key';

let site: CliSite;
let executor: TestExecutor;
let service: ChildProcess;
let serviceUrl = '';
let output = '';

beforeAll(async () => {
  if (hasIacTools.length === 0) return;
  site = await openSite({ CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' });
  service = spawn(process.execPath, ['main.ts'], {
    cwd: join(ROOT, 'examples/run-task'),
    env: { HMAC_KEY: KEY, PORT: '0', NODE_EXTRA_CA_CERTS: join(site.product.dataFolder, 'tls/ca.pem') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [service.stdout, service.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  await waitUntil(() => {
    serviceUrl = /ready: (\S+)/.exec(output)?.[1] ?? '';
    return serviceUrl !== '';
  }, 'the service has started');
  executor = await createSiteExecutor(site);
  await executor.start();
}, LONG);

afterAll(async () => {
  await executor?.remove();
  await site?.product.remove();
  if (!service) return;
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
});

describe('a machine with a client', () => {
  it('runs the tests of this file', () => expect(site === undefined).toBe(hasIacTools.length === 0));
});

const consult = async (remote: RemoteOrganization, workspace: string, stages: readonly string[]): Promise<void> => {
  const task = resource('tasks', { name: 'deletions', url: serviceUrl, category: 'task', 'hmac-key': KEY });
  const created = await site.api.post(`/api/v2/organizations/${remote.name}/tasks`, task);
  const { id } = expectStatus(created, 201).body.data;
  const body = newWorkspaceTask(id as string, { stages });
  expectStatus(await site.api.post(`/api/v2/workspaces/${workspace}/tasks`, body), 201);
};

for (const program of hasIacTools) {
  describe(`the run tasks of a remote run with ${program}`, () => {
    it(
      'are shown in the terminal, let a run pass, and stop a run that deletes',
      async () => {
        const remote = await openRemoteOrganization(site, program, `tasks-of-${program}`);
        const { folder, id } = await remote.prepare('guarded', 'resource "terraform_data" "first" {}');
        await consult(remote, id, ['pre_plan', 'post_plan', 'pre_apply', 'post_apply']);
        const applied = flat(await remote.person.run(folder, 'apply', '-input=false', '-auto-approve'));
        expect(applied).toContain('deletions');
        expect(applied).toContain('Deleted resources: 0 (allowed: 0)');
        expect(applied).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.');
        const command = remote.person.startInteractively(folder, 'destroy', '-auto-approve');
        const { code, output: destroyed } = await command.end;
        expect(code).toBe(1);
        expect(flat(destroyed)).toContain('Deleted resources: 1 (allowed: 0)');
        expect((await remote.getLastRun(id)).attributes.status).toBe('errored');
        expect((await remote.getState(id)).resources.map(({ name }) => name)).toEqual(['first']);
        await remote.person.leave();
      },
      LONG,
    );
  });
}
