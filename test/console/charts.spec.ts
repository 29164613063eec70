import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole } from '../support/console.js';
import { runRequests } from '../support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentToken,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeTeam,
} from '../support/seeds.js';
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

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'neighbour');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
  const first = await aWorkspace();
  const second = await aWorkspace();
  await addRuns(first);
  await addRuns(second);
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
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(
      /2 runs discarded or canceled, of 4$/,
    );
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.getByText(/^Runs that failed created from/).waitFor();
    expect(await page.getByRole('link', { name: 'Rename the bucket' }).count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Try again' }).count()).toBe(0);
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
    await page
      .getByRole('region', { name: TITLE })
      .scrollIntoViewIfNeeded()
      .catch(() => undefined);
    expect((await readNumbers(page, TITLE))[0]?.slice(1, 6)).toEqual(['0', '0', '1', '1', '0']);
    expect(await inspectScreen(page, 'workspace-charts')).toEqual([]);
    await page.getByRole('group', { name: 'Runs by day and result' }).getByRole('link').first().click();
    await page.getByText(/^Runs of ws-1 that failed created from/).waitFor();
    expect(await page.getByRole('link', { name: 'Rename the bucket' }).count()).toBe(1);
    await page.context().close();
  });

  it('does not exist for people outside the organization', async () => {
    const page = await open(stranger);
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(await page.getByText(TITLE).count()).toBe(0);
    await page.context().close();
  });
});
