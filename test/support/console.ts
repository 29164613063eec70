import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Locator } from 'playwright-core';
import { SESSION_COOKIE } from '#api/access';
import type { TestBrowser, TestPage } from './browser.js';
import type { TestServer } from './server.js';
import { waitUntil } from './product.js';
import { startTestSession } from './sessions.js';

/** Gives the window of the page a new session of the user. */
export const startSessionIn = async (page: TestPage, server: TestServer, user: string): Promise<void> => {
  const { secret } = await startTestSession(server, user);
  // Browsers treat localhost as if it had TLS.
  const url = server.url.replace('http:', 'https:');
  await page.context().addCookies([{ name: SESSION_COOKIE, value: secret, url, httpOnly: true, secure: true }]);
};

/** Opens a page of a signed-in person. `path` begins with `/app`. */
export const openConsole = async (
  browser: TestBrowser,
  server: TestServer,
  { user, path }: { readonly user: string; readonly path: string },
): Promise<TestPage> => {
  const page = await browser.openPage();
  await startSessionIn(page, server, user);
  await page.goto(`${server.url}${path}`);
  return page;
};

/** Waits until there are this many of the elements: after an action, the screen may still show what was before. */
export const expectElements = (elements: Locator, count: number): Promise<void> =>
  waitUntil(async () => (await elements.count()) === count, `there are ${count} of ${String(elements)}`);

/** Waits until the element is disabled, such as a button after a click. */
export const expectDisabled = (element: Locator): Promise<void> =>
  waitUntil(() => element.isDisabled(), `${String(element)} is disabled`);

type PausedRequests = { readonly count: number; readonly release: () => void };

/** Keeps requests of this method to paths that match `path`, such as `**\/vars`, until `release`. Counts them. */
export const pauseRequests = async (page: TestPage, method: string, path: string): Promise<PausedRequests> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const paused = { count: 0, release: () => resolve() };
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    paused.count += 1;
    await promise;
    return route.continue();
  });
  return paused;
};

/** Chooses an action of a row, such as `Remove olga`, in the menu of the row. */
export const chooseRowAction = async (page: TestPage, row: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: `More actions for ${row}`, exact: true }).click();
  await page.getByRole('menuitem', { name: `${action} ${row}`, exact: true }).click();
};

/** Returns the name of the element that has the focus, as a screen reader reads it. */
export const nameOfFocus = async (page: TestPage): Promise<string> => {
  const focused = page.locator(':focus');
  if ((await focused.count()) === 0) return '';
  const label = await focused.getAttribute('aria-label');
  return label ?? (await focused.innerText()).trim();
};

/** The widths and colors in which screens are checked. */
const APPEARANCES = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 800, colors: 'with others' },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 800, colors: 'alone' },
  // The colors are those of the wide window.
  { name: 'phone', colorScheme: 'light', width: 390, height: 844, colors: 'never' },
] as const;

/** The other rules give the same in every color. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Changes colors and width, and ends the transitions that follow, so that what is read has its final colors. */
const showAs = async (page: TestPage, { colorScheme, width, height }: (typeof APPEARANCES)[number]): Promise<void> => {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor({ state: 'attached' });
  // A text, because the types of the tests do not include those of browsers.
  await page.evaluate('document.getAnimations().filter((a) => a instanceof CSSTransition).forEach((a) => a.finish())');
};

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Runs axe. A document gets its script once, because Chromium needs 0.1 s of CPU to load it. While a modal dialog is open, only
 * the dialog is checked: nothing behind it can be reached, and what it covers in part has a size that depends on scrolling.
 */
const runAxe = async (page: TestPage, options: RunOptions): Promise<AxeResults['violations']> => {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const dialogs = `document.querySelectorAll('[role="dialog"][aria-modal="true"]')`;
  const run = `axe.run([...${dialogs}].at(-1) ?? document, ${JSON.stringify(options)}).then(({ violations }) => violations)`;
  return page.evaluate(run);
};

/** Returns one text for each rule of accessibility that the page breaks. */
export const findViolations = async (
  page: TestPage,
  { colors = 'with others' }: { readonly colors?: 'alone' | 'with others' | 'never' } = {},
): Promise<readonly string[]> => {
  const violations = await runAxe(page, {
    // Describes only the elements that break a rule.
    resultTypes: ['violations'],
    runOnly: colors === 'alone' ? { type: 'rule', values: COLOR_RULES } : { type: 'tag', values: WCAG },
    rules: colors === 'never' ? Object.fromEntries(COLOR_RULES.map((rule) => [rule, { enabled: false }])) : {},
  });
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join('; ')}`,
  );
};

/**
 * Returns what is wrong with the screen in light and dark colors and on a phone: rules of accessibility that it breaks, and
 * whether it is wider than the window. With CADASTRE_SCREENSHOTS, writes pictures with this name to that folder.
 */
export const inspectScreen = async (page: TestPage, name: string): Promise<readonly string[]> => {
  const faults: string[] = [];
  const folder = process.env['CADASTRE_SCREENSHOTS'];
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  for (const appearance of APPEARANCES) {
    const { width, colors } = appearance;
    await showAs(page, appearance);
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${appearance.name}.png`) });
    const violations = await findViolations(page, { colors });
    faults.push(...violations.map((fault) => `${name}, ${appearance.name}: ${fault}`));
    const scrollWidth = (await page.evaluate('document.documentElement.scrollWidth')) as number;
    if (scrollWidth > width) faults.push(`${name}, ${appearance.name}: the page is ${scrollWidth} wide`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
  return [...faults, ...page.pageErrors];
};
