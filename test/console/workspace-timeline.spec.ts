import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let workspace: string;

const patchWorkspace = async (attributes: Readonly<Record<string, unknown>>): Promise<void> => {
  const body = { data: { type: 'workspaces', attributes } };
  expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, body), 200);
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network', { description: 'The first description' });
  await patchWorkspace({ description: 'The second description' });
  await bindTags(server, `workspaces/${workspace}`, { env: 'prod' });
  await patchWorkspace({ 'auto-apply': true });
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openTimeline = (user: string): Promise<TestPage> =>
  openConsole(browser, server, { user, path: '/app/acme/workspaces/network/timeline' });

const cellsOf = (page: TestPage, field: string) =>
  page.getByRole('table', { name: 'Fields of the workspace' }).getByRole('row').filter({ hasText: field });

describe('the timeline of a workspace', () => {
  it('shows who changed which field, and both values', async () => {
    const page = await openTimeline(owner);
    const entries = page.getByRole('list', { name: 'Changes' }).getByRole('listitem');
    await entries.filter({ hasText: 'Auto apply' }).getByText('yes').waitFor();
    const description = entries.filter({ hasText: 'The second description' });
    expect(await description.locator('del').textContent()).toBe('was The first description');
    expect(await description.locator('ins').textContent()).toBe('became The second description');
    await description.getByText('by admin').waitFor();
    const tag = entries.filter({ hasText: 'Tag set' });
    await tag.getByText('Tags', { exact: true }).waitFor();
    await tag.getByText('env=prod').waitFor();
    await entries.filter({ hasText: 'Workspace created' }).getByText('Default Project').waitFor();
    expect(await inspectScreen(page, 'timeline')).toEqual([]);
    await page.context().close();
  });

  it('shows the workspace as it was after a change, and loads again if its script did not load', async () => {
    const page = await openTimeline(owner);
    await page.getByText('Every field is as it is now.').waitFor();
    await page.getByRole('button', { name: 'Show the workspace after: Workspace created' }).click();
    await page.getByText('3 fields differ from now.').waitFor();
    await cellsOf(page, 'Description').getByText('The first description').waitFor();
    await cellsOf(page, 'Tags').getByText('env=prod').waitFor();
    expect(await inspectScreen(page, 'timeline-past')).toEqual([]);
    await page.reload();
    await page.getByText('3 fields differ from now.').waitFor();
    await page.getByRole('button', { name: 'Next change' }).click();
    await page.getByText('2 fields differ from now.').waitFor();
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.getByText('Every field is as it is now.').waitFor();
    expect(new URL(page.url()).search).toBe('');
    const script = '**/workspace-timeline.screen-*.js';
    await page.route(script, (route) => route.abort());
    await page.goto(`${server.url}/app/acme/workspaces/network`);
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByText('The server did not answer. Check the connection, and try again.').waitFor();
    await page.unroute(script);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Every field is as it is now.').waitFor();
    await page.context().close();
  });

  it('moves by the arrow keys of its slider, and addresses with invalid values are ignored or explained', async () => {
    const page = await openTimeline(owner);
    const slider = page.getByRole('slider', { name: 'The workspace at' });
    expect(await slider.getAttribute('aria-valuetext')).toBe('Now');
    await slider.press('Home');
    await page.waitForURL('**/timeline?at=*');
    expect(await slider.getAttribute('aria-valuetext')).not.toBe('Now');
    await cellsOf(page, 'Description').getByText('The first description').waitFor();
    const addresses = [
      ['workspaces/network/timeline?at=banana', 'Every field is as it is now.'],
      ['workspaces/network/timeline?at=2000-01-01T00:00:00Z', 'The workspace did not exist at this time.'],
      ['workspaces?sort=foo&locked=foo&columns=foo', '1 workspace'],
      [`teams/why?user=${owner}&permission=foo`, 'Choose a person or a team, and an action.'],
      ['audit-trail?since=banana', 'workspace create'],
      ['audit-trail?entry=nope', 'This entry does not exist, or you have no access'],
    ] as const;
    for (const [address, text] of addresses) {
      await page.goto(`${server.url}/app/acme/${address}`);
      await page.getByText(text).first().waitFor();
    }
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is shown to a member who may read the workspace', async () => {
    const page = await openTimeline(reader);
    await page.getByRole('list', { name: 'Changes' }).getByText('Workspace created').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is not shown to a person without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openTimeline(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
