import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  related,
} from '../support/seeds.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';

const SECRET = 'the-secret-of-the-database';

const LONG_TEXT = 'with addresses, names and gateways '.repeat(20);
/** Everything after this character reads from right to left. */
const RIGHT_TO_LEFT = '\u202E';
const END_OF_DIRECTION = '\u202C';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let workspace: string;

const uploadState = async (): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const outputs = {
    cidr: { value: '10.0.0.0/16', type: 'string' },
    password: { value: SECRET, type: 'string', sensitive: true },
    zones: { value: ['a', 'b'], type: ['list', 'string'] },
  };
  const state = newStateVersion(stateFile({ outputs, names: ['vpc', 'subnet'] }), { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, state), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { defaultProject, ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network', { description: `Networks of all regions ${LONG_TEXT}` });
  await makeWorkspace(server, 'acme', 'fresh');
  await bindTags(server, `workspaces/${workspace}`, { env: 'prod' });
  await bindTags(server, `projects/${defaultProject}`, { 'cost-center': '7' });
  await uploadState();
  const share = (source: string, ...consumers: readonly string[]) =>
    server.post(
      `/api/v2/workspaces/${source}/relationships/remote-state-consumers`,
      related('workspaces', ...consumers),
    );
  await makeWorkspace(server, 'acme', 'dns', { 'global-remote-state': true });
  const accounts = await makeWorkspace(server, 'acme', 'accounts');
  expectStatus(await share(accounts, workspace), 204);
  const readers = [];
  for (let index = 1; index <= 10; index += 1) readers.push(await makeWorkspace(server, 'acme', `cluster-${index}`));
  expectStatus(await share(workspace, ...readers), 204);
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openWorkspace = async (user: string, name = 'network', tab = ''): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}${tab}` });
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return page;
};

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();

describe('the overview of a workspace', () => {
  it('opens at the link of its document', async () => {
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200);
    const page = await openConsole(browser, server, { user: owner, path: body.data.links['self-html'] });
    await page.getByText('Networks of all regions').waitFor();
    await page.context().close();
  });

  it('shows state, settings, own and inherited tags, and the block to paste', async () => {
    const page = await openWorkspace(owner);
    await page.getByText('env=prod', { exact: true }).waitFor();
    await page.getByText('cost-center=7 (of the project)').waitFor();
    const state = page.getByRole('region', { name: 'State' });
    expect(await state.getByRole('definition').allTextContents()).toEqual(['2', '3', expect.any(String)]);
    await page.getByText(workspace).waitFor();
    const block = page.getByRole('region', { name: 'the terraform block' });
    expect(await block.textContent()).toContain('workspaces { name = "network" }');
    expect(await inspectScreen(page, 'workspace')).toEqual([]);
    const description = page.getByText('Networks of all regions');
    const short = (await description.boundingBox())?.height ?? 0;
    await press(page, 'Show more');
    await page.getByRole('button', { name: 'Show less' }).waitFor();
    expect((await description.boundingBox())?.height).toBeGreaterThan(short);
    await page.context().close();
  });

  it('describes how to upload the first state', async () => {
    const page = await openWorkspace(owner, 'fresh');
    await page.getByText('There is no state yet. The first apply uploads one:').waitFor();
    await page.getByRole('link', { name: 'State', exact: true }).click();
    await page.getByRole('heading', { name: 'There is no state yet' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/fresh/state`);
    expect(await inspectScreen(page, 'state-empty')).toEqual([]);
    await page.context().close();
  });

  it('is hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openWorkspace(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    await expectElements(page.getByText('Networks of all regions'), 0);
    await page.context().close();
  });
});

/** Saves the value twice: the server makes the first change, and the page gets no answer. */
const saveAfterLostAnswer = async (page: TestPage, value: string): Promise<void> => {
  const path = '**/tag-bindings';
  await page.route(path, async (route) => {
    const request = route.request();
    expectStatus(await server.patch(new URL(request.url()).pathname, request.postDataJSON()), 200);
    return route.abort();
  });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Value').fill(value);
  await page.keyboard.press('Enter');
  await dialog.getByText('The server did not answer, and may have made the change.').waitFor();
  await dialog.getByText('This tag was changed since you opened it').waitFor();
  await page.unroute(path);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
};

describe('the tags of a workspace', () => {
  it('are added, changed and removed, and each change is undone', async () => {
    const page = await openWorkspace(owner, 'fresh');
    const card = page.getByRole('region', { name: 'Tags' });
    const chip = (text: string) => card.getByRole('button', { name: `${text}. Change` });
    const undo = (message: string) =>
      page
        .getByRole('region', { name: 'Messages' })
        .locator('> div')
        .filter({ hasText: message })
        .getByRole('button', { name: 'Undo' })
        .click();
    await card.getByRole('button', { name: 'Add a tag' }).focus();
    await page.keyboard.press('Enter');
    const creation = page.getByRole('dialog', { name: 'New tag of fresh' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await page.keyboard.type('a/b');
    await page.keyboard.press('Enter');
    await creation.getByText('Key is invalid').waitFor();
    expect(await inspectScreen(page, 'tag-new')).toEqual([]);
    await creation.getByLabel('Key').fill('team');
    await creation.getByLabel('Value').fill('platform');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'fresh: tag team' });
    const openTag = async () => {
      await chip('team=platform').click();
      // The dialog moves the focus after it has opened.
      await dialog.locator('[data-autofocus]:focus').waitFor();
    };
    await openTag();
    await dialog.getByLabel('Value').fill('shops');
    await page.keyboard.press('Enter');
    await chip('team=shops').waitFor();
    await undo('The tag team=shops is saved.');
    await openTag();
    await page.keyboard.press('Enter');
    const same = page.getByText('Nothing has changed: the workspace has the tag team=platform already.');
    await same.waitFor();
    await expectElements(same.locator('..').getByRole('button', { name: 'Undo' }), 0);
    await openTag();
    await dialog.getByRole('button', { name: 'Remove the tag' }).focus();
    await page.keyboard.press('Enter');
    await chip('team=platform').waitFor({ state: 'detached' });
    // The dialog gave the focus back to the chip.
    await page.locator('h1:focus').waitFor();
    await undo('The tag team is removed.');
    // The message has left the screen with its button.
    await page.locator('h1:focus').waitFor();
    await openTag();
    await saveAfterLostAnswer(page, `sh${RIGHT_TO_LEFT}ops`);
    // The value in the message ends its direction.
    await undo(`The tag team=sh${RIGHT_TO_LEFT}ops${END_OF_DIRECTION} is saved.`);
    await chip('team=platform').waitFor();
    await page.context().close();
  });

  it('are neither undone nor removed after somebody else has changed them', async () => {
    const fresh = (await server.get('/api/v2/organizations/acme/workspaces/fresh')).body.data.id;
    await bindTags(server, `workspaces/${fresh}`, { region: 'eu' });
    const page = await openWorkspace(owner, 'fresh');
    const dialog = page.getByRole('dialog', { name: 'fresh: tag region' });
    const chip = (value: string) => page.getByRole('button', { name: `region=${value}. Change` });
    await chip('eu').click();
    await dialog.getByLabel('Value').fill('us');
    await page.keyboard.press('Enter');
    await page.getByText('The tag region=us is saved.').waitFor();
    await bindTags(server, `workspaces/${fresh}`, { region: 'asia' });
    await press(page, 'Undo');
    await page.getByText('Nothing was undone in the workspace fresh. Its tag is region=asia now.').waitFor();
    await chip('asia').click();
    await page.route('**/relationships/tag-bindings', async (route) => {
      await bindTags(server, `workspaces/${fresh}`, { region: 'africa' });
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Remove the tag' }).click();
    await page.getByText('The workspace fresh may still have the tag region. Its tag is region=africa now.').waitFor();
    await chip('africa').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('of the project can be replaced, not removed', async () => {
    const page = await openWorkspace(owner, 'fresh');
    await page.getByRole('button', { name: 'cost-center=7 (of the project). Change' }).click();
    const dialog = page.getByRole('dialog', { name: 'fresh: tag cost-center' });
    await dialog.getByText('The tag comes from the project Default Project, so you cannot remove it here.').waitFor();
    await expectElements(dialog.getByRole('button', { name: 'Remove the tag' }), 0);
    expect(await inspectScreen(page, 'tag-inherited')).toEqual([]);
    await dialog.getByLabel('Value').fill('8');
    await page.keyboard.press('Enter');
    const own = page.getByRole('button', { name: 'cost-center=8. Change' });
    await own.waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'cost-center=7 (of the project). Change' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the lock of a workspace', () => {
  it('is taken with a reason, shown with its holder, and released', async () => {
    const page = await openWorkspace(owner);
    await press(page, 'Lock');
    const dialog = page.getByRole('dialog', { name: 'Lock network' });
    await dialog.getByLabel('Reason').fill(`Moving to another ${RIGHT_TO_LEFT}region`);
    await dialog.getByRole('combobox', { name: 'The lock ends' }).click();
    await page.getByRole('option', { name: 'In 8 hours' }).click();
    expect(await inspectScreen(page, 'lock-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Lock' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Locked by olga' });
    await notice.getByText(`Reason: Moving to another ${RIGHT_TO_LEFT}region${END_OF_DIRECTION}`).waitFor();
    await notice.getByText('Locked just now').waitFor();
    await notice.getByText('The lock ends by itself in 8 hours').waitFor();
    expect(await inspectScreen(page, 'workspace-locked')).toEqual([]);
    await press(page, 'Unlock');
    await page.getByText('network is unlocked.').waitFor();
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    await press(page, 'Undo');
    await notice.getByText(`Reason: Moving to another ${RIGHT_TO_LEFT}region${END_OF_DIRECTION}`).waitFor();
    await press(page, 'Unlock');
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    await page.context().close();
  });

  it('of another person is ended with force only after the name is typed', async () => {
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'Upgrade' }), 200);
    const page = await openWorkspace(owner);
    await press(page, 'Force unlock');
    const dialog = page.getByRole('dialog', { name: 'Force unlock network' });
    await dialog.getByText('The lock belongs to admin.').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Force unlock' });
    await expectDisabled(confirm);
    await dialog.getByLabel('Type network to confirm').fill('network');
    expect(await inspectScreen(page, 'force-unlock-dialog')).toEqual([]);
    await confirm.click();
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200);
    expect(body.data.attributes.locked).toBe(false);
    await page.context().close();
  });

  it('cannot be taken by a member who may only read, and the button gives the reason', async () => {
    const page = await openWorkspace(reader);
    const button = page.getByRole('button', { name: 'Lock', exact: true });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team with write or admin access/ }).waitFor();
    await page.keyboard.press('Enter');
    await expectElements(page.getByRole('dialog'), 0);
    const tag = page.getByRole('button', { name: 'Add a tag' });
    expect(await tag.getAttribute('aria-disabled')).toBe('true');
    await expectElements(page.getByRole('button', { name: 'env=prod. Change' }), 0);
    expect(await inspectScreen(page, 'workspace-reader')).toEqual([]);
    await page.context().close();
  });
});

describe('the state of a workspace', () => {
  it('shows resources and outputs, and a sensitive value only after a request', async () => {
    const page = await openWorkspace(owner, 'network', '/state');
    await page.getByRole('region', { name: 'Value of cidr' }).getByText('10.0.0.0/16').waitFor();
    const resources = page.getByRole('table', { name: 'Resources' });
    await resources.getByText('terraform_data.vpc').waitFor();
    expect(await page.content()).not.toContain(SECRET);
    expect(await inspectScreen(page, 'state')).toEqual([]);
    await page.getByRole('button', { name: 'Show the sensitive value of password' }).click();
    await page.getByText(SECRET).waitFor();
    await press(page, 'Hide');
    await page.getByRole('button', { name: 'Show the sensitive value of password' }).waitFor();
    expect(await page.content()).not.toContain(SECRET);
    await page.context().close();
  });

  it('is not read before the person opens its tab, because the audit trail records it', async () => {
    const page = await openWorkspace(owner);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByText('Networks of all regions').waitFor();
    await page.getByRole('region', { name: 'State' }).waitFor();
    expect(requested.filter((path) => /state-version|resources/.test(path))).toEqual([]);
    await page.context().close();
  });
});

describe('the graph of shared states', () => {
  const sideOf = (page: TestPage, name: string) => page.getByRole('region', { name, exact: true });
  const namesIn = (page: TestPage, name: string) => sideOf(page, name).getByRole('link').allInnerTexts();

  it('shows whose states a workspace reads and who reads its own, and leads to them by keyboard', async () => {
    const page = await openWorkspace(owner, 'network', '/state');
    const sources = sideOf(page, 'Reads the states of');
    await sources.getByRole('link', { name: 'accounts names this workspace' }).waitFor();
    await sources.getByRole('link', { name: 'dns shares with the organization' }).waitFor();
    expect(await namesIn(page, 'Is read by')).toHaveLength(6);
    await press(page, 'Show more (4 left)');
    await sideOf(page, 'Is read by').getByRole('link', { name: 'cluster-9' }).waitFor();
    await page.getByRole('heading', { name: 'Shared states' }).scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'shared-states')).toEqual([]);
    await sources.getByRole('link', { name: 'accounts' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Runs of all workspaces of the organization may read this state.').waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/dns/state`);
    await page.context().close();
  });

  it('shows a member only the workspaces that they may read', async () => {
    const page = await openWorkspace(reader, 'network', '/state');
    await page.getByText('Runs of the workspaces that this workspace names may read its state.').waitFor();
    await sideOf(page, 'Is read by').getByText('No other workspace').waitFor();
    expect(await namesIn(page, 'Reads the states of')).toEqual([]);
    await page.getByRole('heading', { name: 'Shared states' }).scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'shared-states-reader')).toEqual([]);
    await page.context().close();
  });

  it('is hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'sara', false);
    const page = await openWorkspace(id, 'network', '/state');
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    await expectElements(page.getByText('cluster-1'), 0);
    await page.context().close();
  });
});
