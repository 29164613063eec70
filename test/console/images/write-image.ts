import { readFile, writeFile } from 'node:fs/promises';
import type { TestBrowser } from '../../support/browser.js';

/** A script that returns how many pixels of two images differ visibly, or the number of all pixels if the sizes differ. */
const countDifferences = (before: Buffer, after: Buffer): string => `(async () => {
  const read = async (base64) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + base64;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height).data;
  };
  const [before, after] = [await read('${before.toString('base64')}'), await read('${after.toString('base64')}')];
  if (before.length !== after.length) return after.length / 4;
  const pixels = new Set();
  for (let n = 0; n < after.length; n += 1) if (Math.abs(before[n] - after[n]) > 32) pixels.add(n >> 2);
  return pixels.size;
})()`;

const MAX_DIFFERENCES = 10;

/** Writes the image unless the file looks the same. Chromium draws the edges of letters differently from time to time. */
export const writeImage = async (browser: TestBrowser, path: string, image: Buffer): Promise<void> => {
  const before = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (before !== null) {
    const page = await browser.openPage();
    const count = (await page.evaluate(countDifferences(before, image))) as number;
    await page.context().close();
    if (count <= MAX_DIFFERENCES) return;
  }
  await writeFile(path, image);
};
