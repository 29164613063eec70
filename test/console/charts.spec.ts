import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { runRequests } from '../support/runs.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeReservedTagKey,
  makeRun,
  makeTeam,
} from '../support/seeds.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { waitUntil } from '../support/product.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let agents: ApiTestClient;
let browser: TestBrowser;
let owner: string;
let reader: string;
let stranger: string;

const { aWorkspace, report, act } = runRequests(() => ({ server, agents }));

const addRuns = async (workspace: string): Promise<void> => {
  const failed = await makeRun(server, workspace, { message: 'Rename the bucket' });
  expectStatus(await report(failed, 'planning'), 200);
  expectStatus(await report(failed, 'errored'), 200);
  expectStatus(await act(await makeRun(server, workspace, { message: 'Try again' }), 'cancel'), 202);
};

const LINEAGE = '0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9';

const uploadState = async (
  workspace: string,
  parts: { readonly serial: number; readonly names: readonly string[] },
) => {
  const body = newStateVersion(stateFile({ lineage: LINEAGE, ...parts }), { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
  const first = await aWorkspace();
  const second = await aWorkspace();
  await addRuns(first);
  await addRuns(second);
  await makeReservedTagKey(server, 'acme', 'owner');
  await bindTags(server, `workspaces/${first}`, { owner: 'ada' });
  await uploadState(first, { serial: 1, names: ['one'] });
  await uploadState(first, { serial: 2, names: ['one', 'two'] });
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, second, 'read');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
  stranger = (await makeMember(server, 'neighbour', 'sven')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = (user: string, path = '/app/acme'): Promise<TestPage> => openConsole(browser, server, { user, path });

/** Returns the numbers that screen readers read for a picture: the cells of each row. */
const readNumbers = async (page: TestPage, title: string): Promise<readonly (readonly string[])[]> => {
  const table = page.getByRole('table', { name: title });
  await table.waitFor();
  return table
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent ?? '')),
    );
};

describe('the picture of runs', () => {
  const TITLE = 'Runs of the last 30 days';

  it('leads from a part of a bar to the runs behind it, with the keyboard', async () => {
    const page = await open(owner);
    const picture = page.getByRole('group', { name: 'Runs by day and result' });
    await picture.getByRole('link').first().waitFor();
    expect(await inspectScreen(page, 'home-charts')).toEqual([]);
    await picture.getByRole('link', { name: /2 runs failed, of 4$/ }).focus();
    await page.keyboard.press('ArrowRight');
    const stopped = picture.getByRole('link', { name: /2 runs discarded or canceled, of 4$/ });
    await stopped.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.getByText(/^Runs that failed created from/).waitFor();
    await expectElements(page.getByRole('link', { name: 'Rename the bucket' }), 2);
    await expectElements(page.getByRole('link', { name: 'Try again' }), 0);
    await page.getByRole('button', { name: 'Show all runs' }).click();
    await page.getByRole('link', { name: 'Try again' }).first().waitFor();
    await page.context().close();
  });

  it('is one stop of the Tab key', async () => {
    const page = await open(owner);
    const links = page.getByRole('group', { name: 'Runs by day and result' }).getByRole('link');
    await links.first().waitFor();
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('tabindex')))).toEqual(['0', '-1']);
    await page.context().close();
  });

  it('shows its numbers as a table that leads to the runs of a day', async () => {
    const page = await open(owner);
    expect((await readNumbers(page, TITLE))[0]?.slice(1, 6)).toEqual(['0', '0', '2', '2', '0']);
    await page.getByRole('button', { name: `Show the numbers of ${TITLE}` }).click();
    const table = page.getByRole('region', { name: `Table: ${TITLE}` });
    await table.waitFor();
    expect(await inspectScreen(page, 'home-chart-numbers')).toEqual([]);
    await table.getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.context().close();
  });

  it('counts the runs that the person may read', async () => {
    const page = await open(reader);
    expect((await readNumbers(page, TITLE))[0]?.slice(1, 6)).toEqual(['0', '0', '1', '1', '0']);
    await page.context().close();
  });

  it('of a workspace is on its overview', async () => {
    const page = await open(owner, '/app/acme/workspaces/ws-1');
    await scrollTo(page, TITLE);
    expect((await readNumbers(page, TITLE))[0]?.slice(1, 6)).toEqual(['0', '0', '1', '1', '0']);
    expect(await inspectScreen(page, 'workspace-charts')).toEqual([]);
    await page.getByRole('group', { name: 'Runs by day and result' }).getByRole('link').first().click();
    await page.getByText(/^Runs of ws-1 that failed created from/).waitFor();
    await expectElements(page.getByRole('link', { name: 'Rename the bucket' }), 1);
    await page.context().close();
  });

  it('does not exist for people outside the organization', async () => {
    const page = await open(stranger);
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    await expectElements(page.getByText(TITLE), 0);
    await page.context().close();
  });
});

/** Shows the pictures that load when the person scrolls near them. */
const scrollTo = async (page: TestPage, title: string): Promise<void> => {
  const region = page.getByRole('region', { name: title });
  await waitUntil(async () => {
    await page.mouse.wheel(0, 400);
    return (await region.count()) === 1;
  }, `the picture ${title} is there`);
  await region.scrollIntoViewIfNeeded();
};

describe('the other pictures of home', () => {
  it('lead to the workspaces without tags, and to the entries of an hour', async () => {
    const page = await open(owner);
    await page
      .getByRole('region', { name: 'Failed in the last 7 days' })
      .getByText('Rename the bucket')
      .first()
      .waitFor();
    await scrollTo(page, 'Complete tags by project');
    await scrollTo(page, 'Resources by type');
    await scrollTo(page, 'Activity of the last 14 days');
    expect(await inspectScreen(page, 'home-pictures')).toEqual([]);
    expect(await readNumbers(page, 'Complete tags by project')).toEqual([['Default Project', '2', '1', '50%']]);
    expect(await readNumbers(page, 'Resources by type')).toEqual([
      ['terraform_data', 'terraform.io/builtin/terraform', '2'],
    ]);
    const cells = page.getByRole('group', { name: 'Entries of the audit trail by day and hour' }).getByRole('link');
    await cells.last().click();
    await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor();
    await page.getByText('Filters (2)').waitFor();
    await page.goBack();
    await scrollTo(page, 'Complete tags by project');
    await page.getByRole('link', { name: 'Default Project' }).first().click();
    await page.waitForURL(/gaps=true/);
    await page.context().close();
  });

  it('count what the person may read, without the audit trail', async () => {
    const page = await open(reader);
    await scrollTo(page, 'Resources by type');
    expect(await readNumbers(page, 'Complete tags by project')).toEqual([['Default Project', '1', '1', '0%']]);
    await page.getByText('No current state that you may read has a resource.').waitFor();
    await expectElements(page.getByRole('region', { name: 'Activity of the last 14 days' }), 0);
    await page.context().close();
  });
});

describe('the pictures of other screens', () => {
  it('show complete tags by project beside the matrix of tags', async () => {
    const page = await open(owner, '/app/acme/tags?view=projects');
    expect(await readNumbers(page, 'Complete tags by project')).toEqual([['Default Project', '2', '1', '50%']]);
    expect(await inspectScreen(page, 'tags-by-project')).toEqual([]);
    await page.context().close();
  });

  it('show the activity above the entries of the audit trail', async () => {
    const page = await open(owner, '/app/acme/audit-trail');
    await page.getByRole('button', { name: 'Activity' }).click();
    await page
      .getByRole('group', { name: 'Entries of the audit trail by day and hour' })
      .getByRole('link')
      .last()
      .click();
    await page.getByText('Filters (2)').waitFor();
    expect(await inspectScreen(page, 'trail-activity')).toEqual([]);
    await page.context().close();
  });

  it('show how long the runs of a workspace waited, planned and applied', async () => {
    const workspace = await aWorkspace({ name: 'measured' });
    const run = await makeRun(server, workspace, { message: 'Grow the disk' });
    for (const status of ['planning', 'planned']) {
      expectStatus(await report(run, status, { 'has-changes': true }), 200);
    }
    expectStatus(await act(run, 'apply'), 202);
    for (const status of ['applying', 'applied']) expectStatus(await report(run, status), 200);
    const { name } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes;
    const page = await open(owner, `/app/acme/workspaces/${name as string}`);
    await scrollTo(page, 'Durations of runs');
    const [cells = []] = await readNumbers(page, 'Durations of runs');
    expect(cells).toHaveLength(4);
    expect(cells.slice(1).every((cell) => cell.endsWith(' s'))).toBe(true);
    expect(await inspectScreen(page, 'run-durations')).toEqual([]);
    await page.getByRole('button', { name: 'Show the numbers of Durations of runs' }).click();
    await page.getByRole('region', { name: 'Table: Durations of runs' }).getByRole('link').click();
    await page.waitForURL(`**/runs/${run}`);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show the resources of a state by type, and over its versions', async () => {
    const page = await open(owner, '/app/acme/workspaces/ws-1/state');
    await page.getByRole('heading', { name: 'Current state version' }).waitFor();
    await scrollTo(page, 'Resources by type');
    await scrollTo(page, 'Resources over state versions');
    expect(await inspectScreen(page, 'state-pictures')).toEqual([]);
    expect(
      (await readNumbers(page, 'Resources over state versions')).map(([serial, , count]) => [serial, count]),
    ).toEqual([
      ['2', '2'],
      ['1', '1'],
    ]);
    await page
      .getByRole('group', { name: 'Resources over state versions' })
      .getByRole('link', { name: /^Serial 2,/ })
      .click();
    await page.waitForURL(/states\?from=.*&to=/);
    await page.context().close();
  });
});

describe('the palette', () => {
  it('creates from every screen what has a button on its own screen', async () => {
    const page = await open(owner, '/app/acme/runs');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('New team');
    await page.getByRole('option', { name: 'New team', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New team' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/acme/teams');
    await page.context().close();
  });

  it('opens each section of the settings', async () => {
    const page = await open(owner, '/app/acme/runs');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('IP allow');
    await page.getByRole('option', { name: 'Settings: IP allowlist', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'IP allowlist' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/acme/settings/ip-allowlist');
    await page.context().close();
  });
});
