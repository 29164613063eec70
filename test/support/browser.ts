import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { cp, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { ROOT } from './folders.js';
import { cached } from './cached.js';
import { findInstalledChromium, hasNpmChromium, requirePrograms } from './programs.js';

const run = promisify(execFile);

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

/** The path of a Chromium, and the environment variables that it needs. */
type Chromium = { readonly executablePath: string; readonly env?: Readonly<Record<string, string>> };

const PACKAGE = join(ROOT, 'test/support/chromium');

/** Decompresses a brotli file, and unpacks it to a folder if it is a tar. */
const extract = async (archive: string, target: string): Promise<void> => {
  const isTar = archive.endsWith('.tar.br');
  const file = isTar ? `${target}.tar` : target;
  await pipeline(createReadStream(archive), createBrotliDecompress(), createWriteStream(file, { mode: 0o755 }));
  if (!isTar) return;
  await mkdir(target, { recursive: true });
  // From a pipe, tar may stop before the padding at the end of the archive is written, which then fails.
  await run('tar', ['--extract', '--file', file, '--directory', target]);
  await rm(file);
};

/** Returns the Chromium of npm, which brings its libraries and fonts, so that pages look the same on every machine. */
const installNpmChromium = async (): Promise<Chromium> => {
  const files = await Promise.all((await readdir(PACKAGE)).toSorted().map((file) => readFile(join(PACKAGE, file))));
  const digest = createHash('sha256').update(Buffer.concat(files)).digest('hex').slice(0, 16);
  const folder = await cached(`chromium-${digest}`, async (building) => {
    await cp(PACKAGE, building, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: building });
    const archives = join(building, 'node_modules/@sparticuz/chromium/bin');
    await Promise.all([
      extract(join(archives, 'chromium.br'), join(building, 'chromium')),
      extract(join(archives, 'swiftshader.tar.br'), building),
      extract(join(archives, 'al2023.tar.br'), join(building, 'libraries')),
      cp(join(building, 'node_modules/dejavu-fonts-ttf/ttf'), join(building, 'fonts'), { recursive: true }),
    ]);
    await rm(join(building, 'node_modules'), { recursive: true });
  });
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'libraries/lib'), FONTCONFIG_PATH: folder },
  };
};

/** Returns the browser that CHROMIUM_PATH names, else the one of npm, else the one of the system. */
const findChromium = async (): Promise<Chromium> => {
  const chosen = process.env['CHROMIUM_PATH'];
  if (chosen !== undefined) return { executablePath: chosen };
  if (hasNpmChromium()) return installNpmChromium();
  requirePrograms('chromium');
  return { executablePath: findInstalledChromium() as string };
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
    locale: 'en-US',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  return Object.assign(page, { pageErrors: collectErrors(page) });
};

export const openBrowser = async (): Promise<TestBrowser> => {
  const { executablePath, env = {} } = await findChromium();
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    // Containers run tests as root, for which Chromium has no sandbox.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  return {
    openPage: ({ javaScript = true } = {}) => openPageIn(browser, javaScript),
    close: () => browser.close(),
  };
};

/** A security key that Chromium simulates. */
type VirtualAuthenticator = {
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
