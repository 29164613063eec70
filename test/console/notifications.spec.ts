import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  makeNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../support/notification-receiver.js';
import { waitUntil } from '../support/product.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

/** Everything after this character reads from right to left. */
const RIGHT_TO_LEFT = '\u202E';
const END_OF_DIRECTION = '\u202C';

const NOTHING_SENT = 'The server did not answer. Check the connection, and try again.';
const KEY = 'key-of-the-signature-b3BlbnNza';

let server: TestServer;
let browser: TestBrowser;
let receiver: NotificationReceiver;
let owner: string;
let reader: string;
let workspace: string;
let team: string;

beforeAll(async () => {
  [server, browser, receiver] = await Promise.all([
    startTestServer({ forBrowsers: true, followers: true, env: REACHES_RECEIVERS }),
    openBrowser(),
    startReceiver(),
  ]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network');
  team = await makeTeam(server, 'acme', 'readers', { visibility: 'organization' });
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
  await receiver.close();
});

const TAB = '/app/acme/workspaces/network/notifications';

const open = (user: string, path = TAB): Promise<TestPage> => openConsole(browser, server, { user, path });

const cardOf = (page: TestPage, name: string) => page.getByRole('region', { name, exact: true });

const readOnly = async (): Promise<any> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/notification-configurations`), 200).body.data[0];

/** Locks the workspace, and waits until the follower has written the delivery. */
const lockWorkspace = async (): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const list = '/api/v2/organizations/acme/notification-configurations';
  const [{ id }] = expectStatus(await server.get(list), 200).body.data;
  const hasDelivery = async (): Promise<boolean> =>
    (await server.get(`/api/v2/notification-configurations/${id}/deliveries`)).body.data.length > 1;
  await waitUntil(hasDelivery, 'the lock has a delivery');
};

/** Creates a notification, after the server has refused a private address at its field. */
const createNotification = async (page: TestPage): Promise<void> => {
  await page.getByRole('button', { name: 'New notification' }).click();
  const dialog = page.getByRole('dialog', { name: 'New notification' });
  await dialog.getByLabel('Name').fill('changes');
  const url = dialog.getByRole('textbox', { name: 'URL' });
  await url.fill('http://10.0.0.1/hook');
  await dialog.getByLabel('Key of the signature', { exact: true }).fill(KEY);
  await dialog.getByLabel('A workspace is locked').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText(/Url could not be verified: .*private/).waitFor();
  expect(await url.getAttribute('aria-invalid')).toBe('true');
  expect(await inspectScreen(page, 'notification-dialog')).toEqual([]);
  await url.fill(receiver.url);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The notification changes is saved.').waitFor();
};

/** Another client adds a trigger while the dialog is open. */
const addUnlockedTrigger = async (): Promise<void> => {
  const { id, attributes } = await readOnly();
  const triggers = [...attributes.triggers, 'workspace:unlocked'];
  const body = resource('notification-configurations', { triggers });
  expectStatus(await server.patch(`/api/v2/notification-configurations/${id}`, body), 200);
};

/** The server makes the change that the page sends, and the page gets no answer. */
const loseAnswers = async (page: TestPage, path: string): Promise<void> => {
  await page.route(`**${path}`, async (route) => {
    const request = route.request();
    if (request.method() !== 'PATCH') return route.fallback();
    expectStatus(await server.patch(path, request.postDataJSON()), 200);
    return route.abort();
  });
};

const inspectDeliveries = async (page: TestPage): Promise<void> => {
  await page.getByRole('button', { name: 'Deliveries of changes' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deliveries of changes' });
  const [newest] = await dialog.getByRole('listitem').all();
  await dialog.getByText('Failed: 503').waitFor();
  await newest?.getByText(`Away for ${RIGHT_TO_LEFT}maintenance${END_OF_DIRECTION}`).waitFor();
  expect(await inspectScreen(page, 'notification-deliveries')).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
};

describe('the notifications of a workspace', () => {
  it('are created, tested, disabled, changed and deleted', async () => {
    const page = await open(owner);
    await page.getByRole('heading', { name: 'There is no notification yet' }).waitFor();
    expect(await inspectScreen(page, 'notifications-empty')).toEqual([]);
    await createNotification(page);
    const card = cardOf(page, 'changes');
    await card.getByText('Delivered: 200').waitFor();
    await card.getByText('A workspace is locked').waitFor();
    receiver.answer((response) => void response.writeHead(503).end(`Away for ${RIGHT_TO_LEFT}maintenance`));
    await page.getByRole('button', { name: 'Test changes' }).click();
    await page.getByText('The destination of changes has refused the test with status 503.').waitFor();
    await card.getByText('Failed: 503').waitFor();
    expect(await inspectScreen(page, 'notifications')).toEqual([]);
    await inspectDeliveries(page);
    await page.getByRole('button', { name: 'Disable changes' }).click();
    await card.getByText('Disabled').waitFor();
    await page.getByRole('button', { name: 'Enable changes' }).click();
    const refusal = /the destination answered with status 503.* A disabled configuration is saved without a test/;
    await card.getByRole('alert').getByText(refusal).waitFor();
    expect(await card.getByRole('alert').innerText()).toMatch(new RegExp(`${RIGHT_TO_LEFT}.*${END_OF_DIRECTION}$`));
    await expectElements(page.getByText('has refused the test'), 0);
    receiver.reset();
    await page.getByRole('button', { name: 'Change changes' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change changes' });
    expect(await dialog.getByLabel('Key of the signature', { exact: true }).inputValue()).toBe('');
    await addUnlockedTrigger();
    await dialog.getByLabel('Enabled').check();
    await dialog.getByLabel('A run is completed').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText('A run is completed').waitFor();
    expect((await readOnly()).attributes).toMatchObject({
      enabled: true,
      triggers: ['run:completed', 'run:errored', 'run:needs_attention', 'workspace:locked', 'workspace:unlocked'],
    });
    // The key has stayed: the last test is signed.
    expect(receiver.received.at(-1)?.headers['x-tfe-notification-signature']).toMatch(/^\w{128}$/);
    await page.getByRole('button', { name: 'Delete changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'There is no notification yet' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are not shown to a member who may only read, and the button gives the reason', async () => {
    const page = await open(reader);
    await page.getByRole('heading', { name: 'You may not read the notifications' }).waitFor();
    expect(await page.getByRole('button', { name: 'New notification' }).getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });

  it('are not shown to a person without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await open(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the notifications of an organization and of a team', () => {
  it('name the mail server that an operator has to configure for e-mails', async () => {
    const page = await open(owner, '/app/acme/notifications');
    await page.getByRole('button', { name: 'New notification' }).click();
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByLabel('Name').fill('mails');
    await dialog.getByText('E-mail', { exact: true }).click();
    await dialog.getByRole('combobox', { name: 'People' }).fill('rit');
    await dialog.getByRole('option', { name: 'rita' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/needs a mail server/).waitFor();
    expect(await inspectScreen(page, 'notification-mail-dialog')).toEqual([]);
    await dialog.getByText('Slack', { exact: true }).click();
    await dialog.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await dialog.getByLabel('A workspace is locked').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await cardOf(page, 'mails').getByText('Slack, 127.0.0.1').waitFor();
    await lockWorkspace();
    await page.getByRole('button', { name: 'Deliveries of mails' }).click();
    const deliveries = page.getByRole('list', { name: 'Deliveries of mails' });
    const lock = deliveries.getByRole('listitem').filter({ hasText: 'A workspace is locked' });
    await lock.getByRole('link', { name: 'network' }).waitFor();
    await deliveries.getByRole('listitem').filter({ hasText: 'Test' }).getByText('Delivered: 200').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('stand on the screen of the team, and keep what the person enters if a client changes or deletes them', async () => {
    const settings = { triggers: ['change_request:created'] };
    const id = await makeNotificationConfiguration(server, `teams/${team}`, 'requests', settings);
    const path = `/api/v2/notification-configurations/${id}`;
    const page = await open(owner, `/app/acme/teams/${team}/notifications`);
    await cardOf(page, 'requests').getByText('change_request:created (never sent)').waitFor();
    await page.route('**/actions/verify', (route) => route.abort());
    await page.getByRole('button', { name: 'Test requests' }).click();
    await cardOf(page, 'requests').getByText(NOTHING_SENT).waitFor();
    await page.getByRole('button', { name: 'Change requests' }).click();
    // Its title follows the name.
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    await dialog.getByLabel('Name').fill('alarms');
    await page.route(`**${path}`, (route) => route.abort());
    await save.click();
    await dialog.getByText(NOTHING_SENT).waitFor();
    await page.unroute(`**${path}`);
    await loseAnswers(page, path);
    await save.click();
    await dialog.getByText('The server did not answer, and may have made the change.').waitFor();
    await dialog.getByText('Another person, or an earlier attempt of yours, has changed it.').waitFor();
    expectStatus(await server.delete(path), 204);
    await save.click();
    await dialog.getByText('It does not exist any more, or you have no access.').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('alarms');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
