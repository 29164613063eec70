import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ProtocolServer, refuse } from '../../../../test/support/executor-protocol.js';
import { waitUntil } from '../../../../test/support/product.js';
import { ExecutorApi } from '../api/executor-api.js';
import { ServerConnection } from '../api/server-connection.js';
import { DocumentReader } from '../documents/document-reader.js';
import type { PhaseDependencies } from '../phases/phase-context.js';
import { plainSandbox } from '../sandbox/plain-sandbox.js';
import { ToolFinder } from '../tools/tool-finder.js';
import { Executor } from './executor.js';

/** Behaves as `DO` says. The executor sees no difference to terraform. */
const TERRAFORM = `#!/bin/sh
wait_for_interrupt() { trap 'echo interrupted; exit 1' INT; echo waiting; while :; do sleep 0.05; done; }
state=$PWD/../state/workspaces/live/terraform.tfstate
case "$1" in
  version) echo '{"terraform_version":"1.11.4"}' ;;
  providers) echo '{"format_version":"1.0","provider_schemas":{}}' ;;
  show) [ "$DO" = nest ] && { head -c 5000000 /dev/zero | tr '\\0' '['; exit 0; }
    [ "$DO" = fill ] && { printf '{"a":[1'; yes ',{"b":{}}' | head -n 6000000 | tr -d '\\n'; echo ']}'; exit 0; }
    echo '{"format_version":"1.2","applyable":true,"resource_changes":[{"type":"a","change":{"actions":["create"]}}]}' ;;
  init) echo "init $2" ;;
  plan)
    for option in "$@"; do case $option in -out=*) echo a plan > "\${option#-out=}" ;; esac; done
    echo made by the plan > made
    echo "the secret is $SECRET"
    [ "$DO" = wait ] && wait_for_interrupt
    [ "$DO" = write ] && seq 1 50000
    [ "$DO" = fail ] && exit 1
    [ "$DO" = replace ] && echo '# another build' >> "$0"
    echo Plan: 1 to add ;;
  apply)
    cat made
    if [ "$DO" = link ]; then ln -s "$LINKED" "$state"
    elif [ "$DO" = damage ]; then printf '{"serial":' > "$state"
    else echo '{"version":4,"serial":1,"lineage":"one","resources":[]}' > "$state"; fi
    [ "$DO" = wait ] && wait_for_interrupt
    if [ "$DO" = save ]; then
      final='{"serial":2,"lineage":"one"}'
      trap 'echo "$final" > "$state"; exit 1' INT
      echo waiting; while :; do sleep 0.05; done
    fi
    [ "$DO" = fail ] && exit 1
    echo 'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.' ;;
esac
exit 0
`;

const JOB = {
  'terraform-version': '1.11.4',
  'working-directory': null,
  variables: [],
  'ssh-key': null,
  'run-token': 'token-of-the-run',
  'configuration-download-url': null,
  'state-download-url': null,
  'organization-name': 'acme',
  'workspace-name': 'live',
  'workspace-id': 'ws-1',
  'time-limit-seconds': 7200,
  'snapshot-interval-seconds': 20,
};

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined };

let folder: string;
let path: string | undefined;
let server: ProtocolServer;
let executor: Executor;
let soon: AbortController;
let now: AbortController;
let running: Promise<void>;

/** Prepares a job for the program above. */
const setJob = (environment: Readonly<Record<string, string>> = {}, attributes: object = {}): void => {
  const variables = Object.entries({ SECRET: 'swordfish', ...environment });
  server.job = {
    ...JOB,
    'plan-file-url': `${server.url}/plan-file`,
    environment: variables.map(([key, value]) => ({ key, value, sensitive: key === 'SECRET' })),
    ...attributes,
  };
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-agent-'));
  path = process.env['PATH'];
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/terraform'), TERRAFORM);
  await chmod(join(folder, 'bin/terraform'), 0o755);
  process.env['PATH'] = `${join(folder, 'bin')}:/usr/bin:/bin`;
  server = new ProtocolServer();
  const url = await server.listen();
  setJob();
  const dependencies: PhaseDependencies = {
    api: new ExecutorApi(new ServerConnection(url, SILENT), 'token-of-the-pool'),
    sandbox: plainSandbox,
    findAddresses: () => Promise.reject(new Error('no test needs a cloud')),
    tools: new ToolFinder({
      folder: join(folder, 'tools'),
      mirror: join(folder, 'mirror'),
      keys: null,
      logger: SILENT,
      now: () => new Date(),
    }),
    documents: new DocumentReader(256 * 2 ** 20),
    keptStates: join(folder, 'kept-states'),
    authorities: '',
    maxBytes: 10_000_000,
    logger: SILENT,
    now: () => new Date(),
  };
  const options = {
    name: 'one',
    version: '0.3.0',
    capacity: 1,
    phases: ['plan', 'apply'],
    runsFolder: join(folder, 'runs'),
    graceMs: 60_000,
  };
  executor = new Executor(dependencies, { ...options, phases: ['plan', 'apply'] });
  [soon, now] = [new AbortController(), new AbortController()];
});

afterEach(async () => {
  soon.abort();
  now.abort();
  await running.catch(() => undefined);
  await server.close();
  process.env['PATH'] = path;
  await rm(folder, { recursive: true, force: true });
});

const start = (...phases: readonly ('plan' | 'apply')[]): void => {
  server.phases = [...phases];
  running = executor.run({ soon: soon.signal, now: now.signal });
};

const waitForReports = (number: number): Promise<void> =>
  waitUntil(() => server.reports.length >= number, `the executor has sent ${number} reports`);

const waitForOutput = (text: string): Promise<void> =>
  waitUntil(() => server.log.includes(text), `the log contains ${text}`);

/** Resolves when the executor has ended after its phases. */
const finish = async (): Promise<void> => {
  soon.abort();
  await running;
};

describe('a plan', () => {
  it('is reported with its log, its documents and its counts, and leaves no files', async () => {
    start('plan');
    await waitForReports(1);
    expect(server.reports).toEqual([
      expect.objectContaining({ status: 'planned', fence: 1, 'has-changes': true, 'resource-additions': 1 }),
    ]);
    expect(server.log).toMatch(
      /^Terraform v1\.11\.4\non \w+\ninit -input=false\nthe secret is \*\*\*\nPlan: 1 to add\n$/,
    );
    expect(server.documents).toEqual({
      'json-schema': { format_version: '1.0', provider_schemas: {} },
      'json-output': expect.objectContaining({ applyable: true }),
    });
    await finish();
    expect(await readdir(join(folder, 'runs'))).toEqual([]);
  });

  it('loses no output while the server fails, and while it is away', async () => {
    setJob({ DO: 'write' });
    const append = server.routes['PUT log'];
    let failures = 0;
    server.routes['PUT log'] = (body, url) => {
      failures += 1;
      if (failures === 2) return { status: 503, body: {} };
      // The server stores the part, but its answer is lost.
      if (failures === 3) void append?.(body, url);
      return failures < 4 ? null : (append?.(body, url) ?? null);
    };
    start('plan');
    await waitForReports(1);
    const numbers = Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(server.log).toContain(`***\n${numbers}Plan: 1 to add\n`);
  });

  it('fails with the reason of the server if it refuses the job', async () => {
    server.routes[`POST /api/v2/runs/${server.run}/job`] = () => refuse(422, 'The variables are too large');
    start('plan');
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({ status: 'errored', message: expect.stringContaining('too large') });
  });

  it('fails if the server refuses its report, because every other executor would send the same one', async () => {
    const report = server.routes[`POST /api/v2/runs/${server.run}/progress`];
    const refused: string[] = [];
    server.routes[`POST /api/v2/runs/${server.run}/progress`] = (body, url) => {
      if (refused.length > 0) return report?.(body, url) ?? null;
      refused.push(body.toString());
      return refuse(413, 'The body is too large');
    };
    start('plan');
    await waitForReports(1);
    expect(refused).toEqual([expect.stringContaining('planned')]);
    expect(server.reports[0]).toMatchObject({
      status: 'errored',
      message: 'The server refuses the report of the plan: The body is too large',
    });
  });

  it('reports an error of each policy if the executor has no sandbox, in which alone it evaluates them', async () => {
    const policy = { id: 'pol-1', name: 'one', query: 'data.rules.deny', 'text-sha256': null, 'opa-version': '1.19.1' };
    setJob({}, { policies: [policy], 'policy-input': {} });
    start('plan');
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({
      status: 'planned',
      'policy-results': [{ policy: 'pol-1', status: 'errored', message: expect.stringContaining('no sandbox') }],
    });
  });

  it('fails if terraform fails, and if its version cannot be had', async () => {
    setJob({ DO: 'fail' });
    start('plan');
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({ status: 'errored', message: 'terraform plan failed with exit code 1.' });
    setJob({}, { 'terraform-version': '0.1.2', 'structured-run-output-enabled': true });
    server.phases = ['plan'];
    server.endWaits();
    await waitForReports(2);
    const line = server.log.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(line)).toMatchObject({ type: 'diagnostic', diagnostic: { severity: 'error' } });
    expect(line).toContain('The executor cannot get terraform 0.1.2');
  });

  it.each(['nest', 'fill'])(
    'fails alone if its document cannot be parsed, for example because it needs too much memory: %s',
    async (behaviour) => {
      setJob({ DO: behaviour });
      start('plan');
      await waitForReports(1);
      expect(server.reports[0]).toMatchObject({
        status: 'errored',
        message: expect.stringContaining('more than 256 MiB of memory'),
      });
      setJob();
      server.phases = ['plan'];
      server.endWaits();
      await waitForReports(2);
      expect(server.reports[1]).toMatchObject({ status: 'planned' });
    },
  );

  it('interrupts terraform when a user cancels the run', async () => {
    setJob({ DO: 'wait' });
    let isCanceled = false;
    server.routes[`POST /api/v2/runs/${server.run}/actions/renew-lease`] = async () => {
      await waitUntil(() => isCanceled, 'the run is canceled');
      const attributes = { phase: 'plan', fence: 1, 'canceled-at': '2030-01-01T00:00:00Z' };
      return { status: 200, body: { data: { id: server.run, attributes } } };
    };
    start('plan');
    await waitForOutput('waiting');
    isCanceled = true;
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({ status: 'canceled' });
    expect(server.log).toContain('interrupted');
  });

  it('is interrupted at its time limit, and fails', async () => {
    setJob({ DO: 'wait' }, { 'time-limit-seconds': 1 });
    start('plan');
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({
      status: 'errored',
      message: expect.stringContaining('took longer than'),
    });
  });

  it('is killed without a report when its lease is lost', async () => {
    setJob({ DO: 'wait' });
    let isLost = false;
    server.routes[`POST /api/v2/runs/${server.run}/actions/renew-lease`] = async () => {
      await waitUntil(() => isLost, 'the lease is lost');
      return refuse(409, 'The lease has ended');
    };
    start('plan');
    await waitForOutput('waiting');
    isLost = true;
    await waitUntil(async () => (await readdir(join(folder, 'runs'))).length === 0, 'its files are gone');
    await finish();
    expect(server.reports).toEqual([]);
    expect(server.log).not.toContain('interrupted');
  });

  it('reports nothing if the executor is stopped at once, so that another one plans again', async () => {
    setJob({ DO: 'wait' });
    start('plan');
    await waitForOutput('waiting');
    soon.abort();
    now.abort();
    await running;
    expect(server.reports).toEqual([]);
    expect(server.requests.at(-1)).toBe('POST /api/v2/agents/agent-1/actions/ping');
  });
});

describe('an apply', () => {
  /** Makes the plan file. */
  const plan = async (): Promise<void> => {
    start('plan');
    await waitForReports(1);
    expect(server.planFile.length).toBeGreaterThan(0);
  };

  const apply = async (environment: Readonly<Record<string, string>> = {}): Promise<void> => {
    await plan();
    setJob(environment);
    server.phases = ['apply'];
    server.endWaits();
  };

  it('has the files of its plan, and stores the state before the report', async () => {
    await apply();
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({ status: 'applied', fence: 2, 'resource-additions': 1 });
    expect(server.log.split('\n').slice(3)).toEqual([
      'made by the plan',
      'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.',
      '',
    ]);
    expect(server.states).toEqual(['{"version":4,"serial":1,"lineage":"one","resources":[]}\n']);
    expect(server.requests.indexOf('PUT /state')).toBeLessThan(
      server.requests.lastIndexOf(`POST /api/v2/runs/${server.run}/progress`),
    );
  });

  it('is refused if the program is another build of the same version', async () => {
    await plan();
    await writeFile(join(folder, 'bin/terraform'), `${TERRAFORM}# another build`);
    server.phases = ['apply'];
    server.endWaits();
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({
      status: 'errored',
      message: expect.stringContaining('The plan was made with another build of terraform 1.11.4'),
    });
    expect(server.states).toEqual([]);
  });

  it('is refused if the operator has replaced the program during the plan', async () => {
    setJob({ DO: 'replace' });
    await plan();
    server.phases = ['apply'];
    server.endWaits();
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({ message: expect.stringContaining('another build of terraform 1.11.4') });
  });

  it('needs no checksum of the program if an earlier executor made the plan', async () => {
    await plan();
    const archive = join(folder, 'plan.tar.gz');
    await writeFile(archive, server.planFile);
    execFileSync(
      'sh',
      [
        '-c',
        `mkdir old && cd old && tar -xzf ../plan.tar.gz && sed -i 's/"checksum":"[0-9a-f]*",//' run.json && tar -czf ../old.tar.gz *`,
      ],
      { cwd: folder },
    );
    expect(await readFile(join(folder, 'old/run.json'), 'utf8')).not.toContain('checksum');
    server.planFile = await readFile(join(folder, 'old.tar.gz'));
    await writeFile(join(folder, 'bin/terraform'), `${TERRAFORM}# another build`);
    server.phases = ['apply'];
    server.endWaits();
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({ status: 'applied' });
  });

  it('stores the state also if terraform fails', async () => {
    await apply({ DO: 'fail' });
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({ status: 'errored' });
    expect(server.states).toHaveLength(1);
  });

  it('stores the state with the apply if the workspace does not accept it', async () => {
    server.routes['POST /api/v2/workspaces/ws-1/state-versions'] = () => refuse(409, 'The run does not hold the lock');
    await apply();
    await waitForReports(2);
    expect(server.erroredStates).toEqual(['{"version":4,"serial":1,"lineage":"one","resources":[]}\n']);
    expect(server.reports[1]).toMatchObject({
      status: 'errored',
      message: expect.stringContaining('The run does not hold the lock'),
    });
  });

  it('keeps the state on the disk if the server does not accept it in any way', async () => {
    server.routes['POST /api/v2/workspaces/ws-1/state-versions'] = () => refuse(409, 'The run does not hold the lock');
    server.routes['PUT errored-state'] = () => refuse(404, 'Not found');
    await apply();
    await waitForReports(2);
    const keptState = join(folder, 'kept-states', `${server.run}-2.tfstate`);
    expect(await readFile(keptState, 'utf8')).toContain('"lineage":"one"');
    const { message } = server.reports[1] ?? {};
    expect(message).toContain(`in the file ${server.run}-2.tfstate of its folder kept-states`);
    expect(message).not.toContain('errored state');
  });

  it('keeps a state that cannot be parsed as the errored state', async () => {
    await apply({ DO: 'damage' });
    await waitForReports(2);
    expect(server.erroredStates).toEqual(['{"serial":']);
    expect(server.reports[1]).toMatchObject({
      status: 'errored',
      message: expect.stringMatching(/The state file of terraform cannot be read.* It is kept as the errored state/),
    });
  });

  it('sends no file of the machine if the run replaces its state by a link', async () => {
    await writeFile(join(folder, 'private'), '{"serial":1,"lineage":"stolen"}');
    await apply({ DO: 'link', LINKED: join(folder, 'private') });
    await waitForReports(2);
    expect(server.reports[1]).toMatchObject({ status: 'errored' });
    expect([server.states, server.erroredStates]).toEqual([[], []]);
  });

  it('ends by itself when its lease is lost, and its last state is the errored state', async () => {
    await plan();
    setJob({ DO: 'save' });
    let isLost = false;
    server.routes[`POST /api/v2/runs/${server.run}/actions/renew-lease`] = async () => {
      await waitUntil(() => isLost, 'the lease is lost');
      return refuse(409, 'The lease has ended');
    };
    server.phases = ['apply'];
    server.endWaits();
    await waitForOutput('waiting');
    isLost = true;
    await waitUntil(() => server.erroredStates.length > 0, 'the state is stored');
    expect(server.erroredStates).toEqual(['{"serial":2,"lineage":"one"}\n']);
    await finish();
    expect([server.states, server.reports.length]).toEqual([[], 1]);
  });

  it('fails with its state stored if the executor is stopped at once', async () => {
    await apply({ DO: 'wait' });
    await waitForOutput('waiting');
    soon.abort();
    now.abort();
    await running;
    expect(server.reports[1]).toMatchObject({ status: 'errored', message: expect.stringContaining('was stopped') });
    expect(server.states).toHaveLength(1);
  });
});

describe('an executor', () => {
  it('registers again when its agent was deleted', async () => {
    const claim = server.routes['POST /api/v2/agents/agent-1/actions/claim'];
    server.routes['POST /api/v2/agents/agent-1/actions/claim'] = (body, url) => {
      const isKnown = server.requests.filter((name) => name === 'POST /api/v2/agents').length > 1;
      return isKnown ? (claim?.(body, url) ?? null) : refuse(404, 'Not found');
    };
    start('plan');
    await waitForReports(1);
    expect(server.reports[0]).toMatchObject({ status: 'planned' });
  });

  it('stops with a message when its token is not accepted', async () => {
    server.routes['POST /api/v2/agents/agent-1/actions/claim'] = () => refuse(401, 'Unauthorized');
    start();
    await expect(running).rejects.toThrow(
      'The server does not accept the token. Create a new token of the agent pool.',
    );
  });

  it('says that a token is for something else', async () => {
    server.routes['POST /api/v2/agents'] = () => refuse(404, 'Not found');
    start();
    await expect(running).rejects.toThrow('Use a token of an agent pool.');
  });
});
