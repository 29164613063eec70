import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { makePlannedChange, makeProviderSchemas } from '../support/plan-documents.js';
import {
  expectStatus,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
  reportBody,
  resource,
} from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let executor: ApiTestClient;
let owner: string;
let pool: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  pool = await makeRemotePool(server, 'acme', 'executors');
  executor = server.as(await makeAgentToken(server, pool));
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const queuePlan = async (workspace: string): Promise<string> => {
  const id = await makeWorkspace(server, 'acme', workspace);
  await makeConfigurationVersion(server, id);
  return makeRun(server, id);
};

const startPlan = async (workspace: string): Promise<string> => {
  const run = await queuePlan(workspace);
  await report(run, 'planning');
  return run;
};

const report = async (run: string, status: string, attributes: object = {}): Promise<void> => {
  expectStatus(await executor.post(`/api/v2/runs/${run}/progress`, reportBody(status, attributes)), 200);
};

/** Appends output to the log of a plan. Returns the offset after it. */
const append = async (run: string, offset: number, output: string): Promise<number> => {
  const path = `/api/v2/plans/${run.replace('run-', 'plan-')}/log?offset=${offset}`;
  return expectStatus(await executor.put(path, output), 200).body.offset as number;
};

const open = (workspace: string, run: string): Promise<TestPage> =>
  openConsole(browser, server, { user: owner, path: `/app/acme/workspaces/${workspace}/runs/${run}` });

const logOf = (page: TestPage, phase = 'plan') => page.getByRole('region', { name: `Log of the ${phase}` });

const VPC = { cidr_block: '10.0.0.0/16', tags: { env: 'test', team: 'net' } };
const DATABASE = { engine: 'postgres', password: 'hush-before', size: 10 };

const PLAN = {
  format_version: '1.2',
  resource_changes: [
    makePlannedChange('aws_vpc.main', {
      actions: ['update'],
      before: VPC,
      after: { ...VPC, tags: { env: 'production', team: 'net' } },
    }),
    makePlannedChange(
      'module.data.aws_db_instance.main',
      {
        actions: ['delete', 'create'],
        before: { ...DATABASE, endpoint: 'db.internal' },
        after: { ...DATABASE, engine: 'mysql', password: 'hush-after' },
        after_unknown: { endpoint: true },
        before_sensitive: { password: true },
        after_sensitive: { password: true },
        replace_paths: [['engine']],
      },
      { module_address: 'module.data', action_reason: 'replace_because_cannot_update' },
    ),
    makePlannedChange(
      'module.data.aws_s3_bucket.old',
      { actions: ['delete'], before: { bucket: 'logs' } },
      { module_address: 'module.data', action_reason: 'delete_because_no_resource_config' },
    ),
    makePlannedChange('aws_iam_role.same', { actions: ['no-op'], before: { name: 'a' }, after: { name: 'a' } }),
    makePlannedChange('aws_iam_role.moved', { actions: ['no-op'] }, { previous_address: 'aws_iam_role.was' }),
  ],
  output_changes: {
    url: { actions: ['create'], before: null, after: 'https://example.com' },
    key: { actions: ['update'], before: 'hush-1', after: 'hush-2', before_sensitive: true, after_sensitive: true },
  },
};

const SCHEMAS = makeProviderSchemas('aws_vpc', 'aws_db_instance', 'aws_s3_bucket', 'aws_iam_role');

const uploadPlan = async (run: string): Promise<void> => {
  const path = `/api/v2/plans/${run.replace('run-', 'plan-')}`;
  expectStatus(await executor.put(`${path}/json-schema`, SCHEMAS), 204);
  expectStatus(await executor.put(`${path}/json-output`, PLAN), 204);
};

describe('the log of a run', () => {
  it('grows while the executor writes, with the messages of JSON lines and with colors', async () => {
    const run = await startPlan('network');
    let offset = await append(run, 0, 'Terraform \u001B[1mv1.13.3\u001B[0m\n');
    const page = await open('network', run);
    await logOf(page).getByText('v1.13.3', { exact: true }).waitFor();
    offset = await append(
      run,
      offset,
      '{"@level":"info","@message":"aws_vpc.main: Refreshing","type":"refresh_start"}\n\u001B[3',
    );
    await logOf(page).getByText('aws_vpc.main: Refreshing', { exact: true }).waitFor();
    offset = await append(run, offset, '1mred text\u001B[0m\u001B[K and \u001B]0;title\u0007more\n');
    await logOf(page).getByText('red text', { exact: true }).waitFor();
    expect(await logOf(page).innerText()).toContain('red text and more');
    const diagnostic = {
      summary: 'Wrong',
      detail: 'First line.\nSecond line.',
      range: { filename: 'main.tf', start: { line: 3 } },
    };
    offset = await append(
      run,
      offset,
      `${JSON.stringify({ '@level': 'error', '@message': 'Error: Wrong', diagnostic })}\n`,
    );
    for (const line of ['Error: Wrong', '  on main.tf:3', '  First line.', '  Second line.'])
      await logOf(page).locator('[data-level="error"]', { hasText: line.trim() }).waitFor();
    await append(run, offset, 'the end without a line break');
    await report(run, 'errored');
    await logOf(page).getByText('the end without a line break').waitFor();
    await page.getByText('8 lines').waitFor();
    expect(await logOf(page).innerText()).not.toMatch(/\p{Cc}(?<!\n)/u);
    expect(await inspectScreen(page, 'run-log')).toEqual([]);
    await page.context().close();
  });

  it('scrolls with the output until the person scrolls up, and is saved as a file', async () => {
    const run = await startPlan('storage');
    const count = 3_000;
    const lines = (from: number) => Array.from({ length: count }, (_, n) => `line ${from + n}\n`).join('');
    const offset = await append(run, 0, lines(0));
    const page = await open('storage', run);
    await logOf(page)
      .getByText(`line ${count - 1}`, { exact: true })
      .waitFor();
    await expectElements(logOf(page).getByText('line 0', { exact: true }), 0);
    await logOf(page).focus();
    await page.keyboard.press('Home');
    await logOf(page).getByText('line 0', { exact: true }).waitFor();
    await append(run, offset, lines(count));
    await page.getByText('6,000 lines').waitFor();
    await logOf(page).getByText('line 0', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await logOf(page)
      .getByText(`line ${2 * count - 1}`, { exact: true })
      .waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${run.replace('run-', 'plan-')}.log`);
    expect(await readFile(await download.path(), 'utf8')).toBe(lines(0) + lines(count));
    await page.context().close();
  });

  it('keeps the last lines of a very long log on the page', async () => {
    const run = await startPlan('long');
    let offset = 0;
    for (let n = 0; n < 3; n += 1) offset = await append(run, offset, `${'x\n'.repeat(9_999)}part ${n}\n`);
    const page = await open('long', run);
    await page.getByText('30,000 lines. The last 20,000 are shown; the file has all.').waitFor();
    await logOf(page).getByText('part 2', { exact: true }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('a phase', () => {
  it('names its executor', async () => {
    const agents = `/api/v2/agent-pools/${pool}/agents`;
    const agent = expectStatus(await executor.post(agents, resource('agents', { name: 'builder-7' })), 201).body.data
      .id;
    const run = await queuePlan('claimed');
    expectStatus(await executor.post(`/api/v2/agents/${agent}/actions/claim`, resource('agents', {})), 200);
    const page = await open('claimed', run);
    await page.getByRole('region', { name: 'Plan', exact: true }).getByText('by builder-7').waitFor();
    await page.getByText('Waits for the first output.').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the changes of a plan', () => {
  it('are a tree of resources by module, without sensitive values', async () => {
    const run = await startPlan('database');
    await append(run, 0, 'planned\n');
    await uploadPlan(run);
    await report(run, 'planned', {
      'has-changes': true,
      'resource-additions': 1,
      'resource-changes': 1,
      'resource-destructions': 2,
    });
    const page = await open('database', run);
    const plan = page.getByRole('region', { name: 'Plan', exact: true });
    const rowOf = (address: string) =>
      plan
        .getByRole('group')
        .filter({ has: page.getByText(address, { exact: true }) })
        .last();
    await rowOf('module.data.aws_db_instance.main').getByText('forces replacement').waitFor();
    const database = await rowOf('module.data.aws_db_instance.main').innerText();
    expect(database.replaceAll(/\s+/g, ' ')).toBe(
      '± Replace module.data.aws_db_instance.main engine postgres → mysql forces replacement ' +
        'password sensitive value → another sensitive value endpoint db.internal → known after apply',
    );
    await plan.getByText('aws_vpc.main', { exact: true }).click();
    await rowOf('aws_vpc.main').getByText('production', { exact: true }).waitFor();
    expect((await rowOf('aws_vpc.main').innerText()).replaceAll(/\s+/g, ' ')).toBe(
      '~ Change aws_vpc.main tags.env test → production',
    );
    await plan.getByText('module.data.aws_s3_bucket.old', { exact: true }).click();
    await plan.getByText('The configuration does not contain it any more.').waitFor();
    await plan.getByText('aws_iam_role.moved', { exact: true }).click();
    await plan.getByText('Moved from aws_iam_role.was.').waitFor();
    await expectElements(plan.getByText('aws_iam_role.same'), 0);
    const outputs = plan.getByRole('region', { name: 'Changed outputs' });
    expect((await outputs.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'Outputs url https://example.com key sensitive value → another sensitive value',
    );
    expect(await page.content()).not.toContain('hush');
    await expectElements(logOf(page), 0);
    expect(await inspectScreen(page, 'run-plan')).toEqual([]);
    await plan.getByText('Log', { exact: true }).click();
    await logOf(page).getByText('planned', { exact: true }).waitFor();
    await page.context().close();
  });

  it('are missing if the executor has not uploaded them', async () => {
    const run = await startPlan('cache');
    await report(run, 'planned', { 'has-changes': true, 'resource-additions': 1 });
    const page = await open('cache', run);
    await page.getByText('The executor has not uploaded this document').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
