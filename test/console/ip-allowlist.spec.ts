import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, inspectScreen, openConsole, expectElements } from '../support/console.js';
import { expectStatus, makeAgentPool, makeMember, makeOrganization, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let member: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  member = (await makeMember(server, 'acme', 'mia')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/${path}` });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
};

describe('the IP allowlist', () => {
  it('suggests the own address for the first range; owners add, disable, enable and remove ranges', async () => {
    const page = await open(owner, 'settings/ip-allowlist', 'IP allowlist');
    await page.getByText('The organization accepts requests from every address.').waitFor();
    await page.getByRole('heading', { name: 'No range is listed' }).waitFor();
    expect(await inspectScreen(page, 'ip-allowlist-empty')).toEqual([]);
    await page.getByRole('button', { name: 'Add a range' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a range' });
    const range = dialog.getByLabel('Range');
    expect(await range.inputValue()).toBe('127.0.0.1');
    await range.fill('203.0.113.0/24');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText(/This would lock you out: .* your own address, 127\.0\.0\.1\./).waitFor();
    expect(await inspectScreen(page, 'ip-allowlist-lock-out')).toEqual([]);
    await range.fill('127.0.0.0/8');
    await dialog.getByLabel('Description').fill('This machine');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const table = page.getByRole('table', { name: 'Ranges' });
    await table.getByText('127.0.0.0/8').waitFor();
    await page.getByText('The organization accepts requests only from the enabled ranges.').waitFor();
    await page.getByRole('button', { name: 'Add a range' }).click();
    await range.fill('10.1.2.3/8');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText(/Range must begin with the first address of the range: 10\.0\.0\.0\/8/).waitFor();
    await range.fill('10.0.0.0/8');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await table.getByText('10.0.0.0/8').waitFor();
    expect(await inspectScreen(page, 'ip-allowlist')).toEqual([]);
    await page.getByRole('button', { name: 'Disable 10.0.0.0/8' }).click();
    await page.getByRole('dialog', { name: 'Disable 10.0.0.0/8' }).getByRole('button', { name: 'Disable' }).click();
    await table.getByText('Disabled').waitFor();
    await page.getByRole('button', { name: 'Enable 10.0.0.0/8' }).click();
    await page.getByRole('button', { name: 'Disable 10.0.0.0/8' }).waitFor();
    for (const text of ['10.0.0.0/8', '127.0.0.0/8']) {
      await chooseRowAction(page, text, 'Remove');
      await page
        .getByRole('dialog', { name: `Remove ${text}` })
        .getByRole('button', { name: 'Remove' })
        .click();
      await table.getByText(text).waitFor({ state: 'detached' });
    }
    await page.getByText('The organization accepts requests from every address.').waitFor();
  });

  it('has lists for the agents of all pools, or of some', async () => {
    const pool = await makeAgentPool(server, 'acme', 'edge');
    const page = await open(owner, 'settings/ip-allowlist', 'IP allowlist');
    await page.getByText('Agents and their runs may send requests from every address.').waitFor();
    await page.getByRole('button', { name: 'Create a list for agents' }).click();
    const creation = page.getByRole('dialog', { name: 'Create a list for agents' });
    await creation.getByLabel('Name').fill('Data center');
    await creation.getByRole('combobox', { name: 'Agent pools' }).click();
    await creation.getByRole('option', { name: 'edge' }).click();
    // The list of pools covers the button.
    await creation.getByRole('combobox', { name: 'Agent pools' }).press('Tab');
    expect(await inspectScreen(page, 'agent-list-dialog')).toEqual([]);
    await creation.getByRole('button', { name: 'Create' }).click();
    const card = page.getByRole('region', { name: 'Data center' });
    await card.getByText('Has no enabled range, so it restricts no agent.').waitFor();
    await card.getByRole('button', { name: 'Add a range Data center' }).click();
    const adding = page.getByRole('dialog', { name: 'Add a range' });
    await adding.getByText('agents at all other addresses are refused').waitFor();
    await adding.getByLabel('Range').fill('198.51.100.0/24');
    await adding.getByRole('button', { name: 'Add' }).click();
    await card.getByText('Restricts the agents of: edge.').waitFor();
    await adding.waitFor({ state: 'detached' });
    expect(await inspectScreen(page, 'agent-lists')).toEqual([]);
    const [list] = expectStatus(await server.get('/api/v2/organizations/acme/cidr-range-lists?q=Data'), 200).body.data;
    expect(list.relationships['agent-pools'].data).toEqual([{ type: 'agent-pools', id: pool }]);
    await chooseRowAction(page, 'Data center', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit Data center' });
    await edit.getByLabel('Name').fill('All data centers');
    await edit.getByLabel('For the agents of all pools').check();
    await edit.getByRole('button', { name: 'Save' }).click();
    const changed = page.getByRole('region', { name: 'All data centers' });
    await changed.getByText('Restricts the agents of all pools of the organization.').waitFor();
    await changed.getByRole('button', { name: 'Disable 198.51.100.0/24' }).click();
    const disabling = page.getByRole('dialog', { name: 'Disable 198.51.100.0/24' });
    await disabling.getByText('The list will no longer restrict its agents.').waitFor();
    await disabling.getByRole('button', { name: 'Disable' }).click();
    await changed.getByText('Has no enabled range, so it restricts no agent.').waitFor();
    await chooseRowAction(page, 'All data centers', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Agents and their runs may send requests from every address.').waitFor();
    await page.context().close();
  });

  it('is offered to owners only', async () => {
    const page = await open(member, 'settings', 'General');
    const sections = page.getByRole('navigation', { name: 'Settings' });
    await sections.getByRole('link', { name: 'General' }).waitFor();
    await expectElements(sections.getByRole('link', { name: 'IP allowlist' }), 0);
    const path = '/app/acme/settings/ip-allowlist';
    const screen = await openConsole(browser, server, { user: member, path });
    await screen.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
  });

  it('gives people at other addresses the reason', async () => {
    // The list that the owner has emptied.
    const [list] = expectStatus(await server.get('/api/v2/organizations/acme/cidr-range-lists'), 200).body.data;
    const range = resource('cidr-ranges', { range: '203.0.113.0/24' });
    expectStatus(await server.post(`${list.links.self}/relationships/cidr-ranges`, range), 201);
    const page = await openConsole(browser, server, { user: member, path: '/app/acme/workspaces' });
    await page
      .getByText(/the IP allowlist of this organization does not contain your address, 127\.0\.0\.1/)
      .first()
      .waitFor();
    expectStatus(await server.delete(list.links.self), 204);
  });
});
