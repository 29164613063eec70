import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sendSignal } from '../../libs/platform/host/machine/signals.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';

let product: Product;

beforeEach(async () => {
  product = await launchProduct({ CADASTRE_SHUTDOWN_DELAY_SECONDS: '3' });
});
afterEach(() => product?.remove());

const untilServerHasEnded = async (pid: number): Promise<void> => {
  await waitUntil(() => !sendSignal(pid, 0), 'the server has ended');
};

describe('stopping npm start', () => {
  it('stops the server when npm gets SIGTERM, and when npm is killed', async () => {
    await product.startWithNpm();
    const first = product.serverPid();
    await product.stop();
    await untilServerHasEnded(first);
    expect(product.isPostgresRunning()).toBe(false);

    await product.startWithNpm();
    const second = product.serverPid();
    await product.killNpm();
    await untilServerHasEnded(second);
    expect(product.isPostgresRunning()).toBe(false);
  });
});

describe('a closing terminal', () => {
  it('stops the server cleanly', async () => {
    await product.start();
    expect(await product.hangUp()).toMatchObject({ code: 0, signal: null });
    expect(product.isPostgresRunning()).toBe(false);
  });
});

describe('a stop with a delay', () => {
  it('fails /readyz first, serves requests during the delay, then exits with 0', async () => {
    await product.start();
    const statusOf = async (path: string): Promise<number> => (await fetch(`${product.url}${path}`)).status;
    const ended = product.stop();
    await waitUntil(async () => (await statusOf('/readyz')) === 503, '/readyz fails');
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/api/v2/ping')).toBe(204);
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: 'Stopping …\n' });
  });
});
