import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** A headless Chromium. Each page has cookies of its own, like a private window. */
export type TestBrowser = {
  /** Opens a page in a new window. Without JavaScript, pages must work by links and forms alone. */
  openPage(options?: { readonly javaScript?: boolean }): Promise<TestPage>;
  close(): Promise<void>;
};

export type TestPage = Page & {
  /** Errors of scripts, and everything that a content policy has blocked. */
  readonly pageErrors: readonly string[];
};

/** Chromium without windows takes a quarter less processor time. */
const CHROMIUM_PATHS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

const findChromium = (): string => {
  const chosen = process.env['CHROMIUM_PATH'];
  const paths = chosen === undefined ? CHROMIUM_PATHS : [chosen];
  const path = paths.find((one) => existsSync(one));
  if (path !== undefined) return path;
  throw new Error(
    `There is no Chromium at ${paths.join(' or ')}. Install the package chromium-headless-shell, or set CHROMIUM_PATH`,
  );
};

const collectErrors = (page: Page): readonly string[] => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // Chromium also logs responses with an error status.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) errors.push(text);
  });
  return errors;
};

const openPageIn = async (browser: Browser, javaScript: boolean): Promise<TestPage> => {
  // Test servers have certificates of their own authority.
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    javaScriptEnabled: javaScript,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  return Object.assign(page, { pageErrors: collectErrors(page) });
};

export const openBrowser = async (): Promise<TestBrowser> => {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // Containers run tests as root, for which Chromium has no sandbox.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  return {
    openPage: ({ javaScript = true } = {}) => openPageIn(browser, javaScript),
    close: () => browser.close(),
  };
};

/** A security key that Chromium simulates. */
export type VirtualAuthenticator = {
  /** Sets whether the person proves to be present and to know the PIN, or has the finger. */
  setUserVerified(isVerified: boolean): Promise<void>;
  countCredentials(): Promise<number>;
  remove(): Promise<void>;
};

/** Adds a security key with user verification, which stores passkeys and answers by itself. */
export const addAuthenticator = async (page: Page): Promise<VirtualAuthenticator> => {
  const context: BrowserContext = page.context();
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setUserVerified: async (isUserVerified) => {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    countCredentials: async () =>
      (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
    remove: async () => {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
};
