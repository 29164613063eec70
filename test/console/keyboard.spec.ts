import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
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
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { PASSWORD, signInByLink } from '../support/sign-in.js';

const MOST_STEPS = 40;
const MESSAGE = 'Add a subnet';

let server: TestServer;
let browser: TestBrowser;
let workspace: string;
let run: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const { id } = await makeMember(server, 'acme', 'olga', [ownersTeam]);
  const client = await signInByLink(server, id);
  await client.post('/account/password', { password: PASSWORD });
  const pool = await makeRemotePool(server, 'acme', 'executors');
  const executor = server.as(await makeAgentToken(server, pool));
  workspace = await makeWorkspace(server, 'acme', 'network');
  // A run that waits locks its workspace.
  const storage = await makeWorkspace(server, 'acme', 'storage');
  await makeConfigurationVersion(server, storage);
  run = await makeRun(server, storage, { message: MESSAGE });
  const path = `/api/v2/runs/${run}/progress`;
  expectStatus(await executor.post(path, reportBody('planning')), 200);
  expectStatus(await executor.post(path, reportBody('planned', { 'resource-additions': 2 })), 200);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/**
 * Returns whether the person sees which element has the focus: it is in the window, and it, its frame or its label has an
 * outline or a border in the color of the focus. A text, because the types of the tests do not include those of browsers.
 */
const IS_VISIBLE = `(() => {
  const element = document.activeElement;
  // Some fields have no size, because their label draws them.
  const box = [element, ...(element.labels ?? [])].find((each) => each.getBoundingClientRect().width > 1) ?? element;
  const { top, bottom, left, right, width, height } = box.getBoundingClientRect();
  const isInWindow = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const accent = getComputedStyle(document.documentElement).getPropertyValue('--console-accent').trim();
  const probe = document.createElement('i');
  probe.style.color = accent;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  const frames = [element, element.parentElement, element.parentElement?.parentElement, ...(element.labels ?? [])];
  const hasRing = frames.some((frame) => {
    if (!frame) return false;
    const { outlineStyle, outlineWidth, borderTopColor, borderTopWidth } = getComputedStyle(frame);
    const hasOutline = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    return hasOutline || (parseFloat(borderTopWidth) > 0 && borderTopColor === color);
  });
  return isInWindow && hasRing;
})()`;

/** Returns the role and the name of the element with the focus, as a screen reader reads them, or an empty text. */
const describeFocus = async (page: TestPage): Promise<string> => {
  const focused = page.locator(':focus');
  if ((await focused.count()) === 0) return '';
  const [line = ''] = (await focused.ariaSnapshot()).split('\n');
  return line.replace(/^- '?/, '');
};

/** Presses Tab until an element with this description has the focus. Every element on the way is named and visible. */
const tabTo = async (page: TestPage, target: string | RegExp): Promise<void> => {
  const passed: string[] = [];
  while (passed.length < MOST_STEPS) {
    await page.keyboard.press('Tab');
    const focus = await describeFocus(page);
    passed.push(focus);
    // After the last element the focus leaves the page for the browser.
    if (focus === '') continue;
    expect([focus, /^[\w-]+ "/.test(focus) || focus.startsWith('region')]).toEqual([focus, true]);
    expect([focus, await page.evaluate(IS_VISIBLE)]).toEqual([focus, true]);
    if (typeof target === 'string' ? focus.startsWith(target) : target.test(focus)) return;
  }
  throw new Error(`${String(target)} is not reached: ${passed.join(', ')}`);
};

const waitForTitle = (page: TestPage, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

const signIn = async (page: TestPage): Promise<void> => {
  await page.goto(`${server.url}/app/acme`);
  await page.getByLabel('User name or e-mail address').waitFor();
  if (!(await describeFocus(page)).startsWith('textbox "User name')) await tabTo(page, 'textbox "User name');
  await page.keyboard.type('olga@people.test');
  await tabTo(page, 'textbox "Password"');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await waitForTitle(page, 'acme');
};

const lockWorkspace = async (page: TestPage): Promise<void> => {
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await waitForTitle(page, 'Workspaces');
  await page.getByRole('row').filter({ hasText: 'network' }).waitFor();
  await tabTo(page, /^row "Select network/);
  await page.keyboard.press('Enter');
  await waitForTitle(page, 'network');
  await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
  await tabTo(page, 'button "Lock"');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Lock network' }).waitFor();
  // The palette does not open above a form, which gets the keys.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('By keyboard');
  await tabTo(page, 'button "Lock"');
  await page.keyboard.press('Enter');
  await page.getByText('Reason: By keyboard').waitFor();
};

/** Opens a screen with the command palette. It gets also the letters that are typed before its field is there. */
const choose = async (page: TestPage, name: string): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(name);
  await page.getByRole('option', { name, selected: true }).waitFor();
  await page.keyboard.press('Enter');
};

const commentOnRun = async (page: TestPage): Promise<void> => {
  await choose(page, 'Runs');
  await waitForTitle(page, 'Runs');
  await page.getByRole('link', { name: MESSAGE }).waitFor();
  await tabTo(page, `link "${MESSAGE}"`);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  await tabTo(page, 'button "Discard"');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Discard' });
  await dialog.waitFor();
  if (!(await describeFocus(page)).startsWith('textbox')) await tabTo(page, /^textbox "Comment/);
  await page.keyboard.type('Not this week');
  await tabTo(page, 'button "Discard"');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Not this week').waitFor();
};

const openAuditEntry = async (page: TestPage): Promise<void> => {
  await choose(page, 'Audit trail');
  await waitForTitle(page, 'Audit trail');
  await page.getByRole('row').filter({ hasText: 'run discard' }).first().waitFor();
  await tabTo(page, /^row "/);
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Entry of the audit trail' });
  await panel.getByRole('region', { name: 'What happened' }).waitFor();
  await tabTo(page, /^button "Copy/);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await describeFocus(page)).toMatch(/^row "/);
};

const signOut = async (page: TestPage): Promise<void> => {
  await page.keyboard.press('Shift+Tab');
  await page.reload();
  await waitForTitle(page, 'Audit trail');
  await tabTo(page, 'button "Account"');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  await page.keyboard.press('End');
  expect(await describeFocus(page)).toBe('menuitem "Sign out"');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/sign-in*');
};

describe('a person without a mouse', () => {
  it('signs in, locks a workspace, comments on a run, reads an entry of the audit trail, and signs out', async () => {
    const page = await browser.openPage();
    await signIn(page);
    await lockWorkspace(page);
    await commentOnRun(page);
    await openAuditEntry(page);
    await signOut(page);
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200);
    expect(body.data.attributes['locked-reason']).toBe('By keyboard');
    expect(expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status).toBe('discarded');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
