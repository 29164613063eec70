// How smoothly the console shows a long list of workspaces, in a headless Chromium over the built product.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { figure } from './figures.js';
import { Product } from './product.js';
import { median, percentile } from './statistics.js';
import { table, verdict } from './table.js';

const ORGANIZATION = 'seed-1';
const FRAME_MS = 50;
const INTERACTION_MS = 100;
/** From the first row to the last, in this many frames. */
const FAST_FRAMES = 1_200;
/** As a person reads: a tenth of a window in each frame. */
const SLOW_FRAMES = 600;
const SLOW_STEP = 60;
const TYPED = 'sample-000';
const OPENED_ROWS = 10;

const findChromium = () => {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (existsSync(path)) return path;
  throw new Error(`There is no Chromium at ${path}. Install the package chromium, or set CHROMIUM_PATH`);
};

/* The functions below run in the page. */

/** Scrolls the grid by `step` pixels in each frame, or to its end. Returns the durations of the frames. */
const scrollInPage = ({ frames, step }) =>
  new Promise((resolve) => {
    const grid = document.querySelector('[role="grid"]');
    const size = step ?? (grid.scrollHeight - grid.clientHeight) / frames;
    const durations = [];
    let previous = null;
    const next = (at) => {
      if (previous !== null) durations.push(at - previous);
      previous = at;
      if (durations.length >= frames) {
        resolve(durations);
        return;
      }
      grid.scrollTop += size;
      requestAnimationFrame(next);
    };
    grid.scrollTop = 0;
    requestAnimationFrame(next);
  });

/** Marks each key and click, and measures until the frame after it is painted. */
const markInteractions = () => {
  const measure = ({ type, timeStamp }) => {
    // A task after the animation frame runs when the frame has been rendered.
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => performance.measure(type, { start: timeStamp, end: performance.now() }));
      port1.start();
      port2.postMessage(null);
    });
  };
  for (const type of ['keydown', 'click']) addEventListener(type, measure, { capture: true });
};

/** Returns the durations of the interactions since the last call. */
const takeMeasures = (type) => {
  const durations = performance.getEntriesByName(type, 'measure').map(({ duration }) => duration);
  performance.clearMeasures(type);
  return durations;
};

const openList = async (browser, product) => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    extraHTTPHeaders: { authorization: `Bearer ${product.token}` },
  });
  const page = await context.newPage();
  await page.addInitScript(markInteractions);
  await page.goto(`${product.url}/app/${ORGANIZATION}/workspaces`);
  await page.locator('[role="row"][data-index="3"] a').waitFor();
  // The parts that load after the list would else count as frames of the scroll.
  await page.getByText('Live', { exact: true }).waitFor();
  await page.evaluate(() => new Promise((resolve) => void requestIdleCallback(resolve)));
  return page;
};

/** Types into the search, one key after the other is painted. */
const measureTyping = async (page) => {
  await page.getByRole('searchbox').focus();
  await page.evaluate(takeMeasures, 'keydown');
  for (const key of TYPED) await page.keyboard.press(key);
  await page
    .getByRole('status')
    .filter({ hasText: /\d workspaces?$/ })
    .waitFor();
  const durations = await page.evaluate(takeMeasures, 'keydown');
  await page.getByRole('searchbox').fill('');
  return durations;
};

/** Opens rows one after the other. Returns the times until the next frame, and until the screen shows the workspace. */
const measureOpening = async (page) => {
  const painted = [];
  const shown = [];
  for (let index = 0; index < OPENED_ROWS; index += 1) {
    const row = page.locator(`[role="row"][data-index="${index}"]`);
    const name = await row.locator('a').innerText();
    await page.evaluate(takeMeasures, 'click');
    const started = performance.now();
    await row.click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    shown.push(performance.now() - started);
    painted.push(...(await page.evaluate(takeMeasures, 'click')));
    await page.goBack();
    await page.locator('[role="row"][data-index="3"] a').waitFor();
  }
  return { painted, shown };
};

/** Returns a function that reads the CPU ms of the main thread of the page. Other load on the machine does not change it. */
const cpuReaderOf = async (page) => {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * metrics.find(({ name }) => name === 'TaskDuration').value;
  };
};

const measure = async (page) => {
  const readCpu = await cpuReaderOf(page);
  const cpu = {};
  const counted = async (name, count, work) => {
    const before = await readCpu();
    const result = await work();
    cpu[name] = ((await readCpu()) - before) / count;
    return result;
  };
  const scroll = (frames, step) => page.evaluate(scrollInPage, { frames, step });
  const fast = await counted('fast', FAST_FRAMES, () => scroll(FAST_FRAMES));
  await scroll(SLOW_FRAMES, SLOW_STEP);
  // The second time, the pages of these rows are in the memory of the console.
  const slow = await counted('slow', SLOW_FRAMES, () => scroll(SLOW_FRAMES, SLOW_STEP));
  await scroll(1, 0);
  const { painted, shown } = await counted('painted', OPENED_ROWS, () => measureOpening(page));
  const typing = await counted('typing', TYPED.length, () => measureTyping(page));
  return { fast, slow, typing, painted, shown, cpu };
};

const CASES = [
  ['fast', 'frame, from the first row to the last', FRAME_MS],
  ['slow', 'frame, reading the first rows', FRAME_MS],
  ['typing', 'key in the search, until painted', INTERACTION_MS],
  ['painted', 'click on a row, until painted', INTERACTION_MS],
  ['shown', 'click on a row, until the workspace is shown', null],
];

/** Reports the frames while the list scrolls and the time of interactions. Times depend on the machine. */
export const consoleBench = async ({ workspaces, rounds }) => {
  const product = await Product.of();
  try {
    await product.start();
    await product.stop();
    await product.seed({ workspaces, 'trail-entries': 0 });
    await product.start();
    const browser = await chromium.launch({
      executablePath: findChromium(),
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
    const results = [];
    try {
      for (let round = 0; round < rounds; round += 1) {
        const page = await openList(browser, product);
        results.push(await measure(page));
        await page.context().close();
      }
    } finally {
      await browser.close();
    }
    const longest = (name) => results.map((result) => Math.max(...result[name]));
    const rows = CASES.map(([name, label, budget]) => {
      const all = results.flatMap((result) => result[name]);
      const worst = median(longest(name));
      const values = [median(all), percentile(all, 0.99), worst].map((ms) => ms.toFixed(1));
      const cpu = results.flatMap((result) => result.cpu[name] ?? []);
      return [
        label,
        cpu.length > 0 ? median(cpu).toFixed(1) : '',
        ...values,
        budget === null ? '' : `≤ ${budget}`,
        budget === null ? '' : verdict(worst <= budget),
      ];
    });
    const title = `${workspaces.toLocaleString('en')} workspaces, ms`;
    process.stdout.write(
      `${table([title, 'CPU of the page, mean', 'median', 'p99', 'longest', 'budget', ''], rows)}\n`,
    );
    return CASES.map(([name, label, budget]) =>
      figure('console', label, `${workspaces} workspaces`, 'longest', longest(name), {
        unit: 'ms',
        better: 'lower',
        budget,
      }),
    );
  } finally {
    await product.remove();
  }
};
