import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { SandboxedProcess } from '../sandbox/sandbox.js';
import { PhaseStop } from './phase-stop.js';

const GRACES = { usual: 6_000, leaseLost: 600 };

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['performance', 'Date'] }));
afterEach(() => void jest.useRealTimers());

/** Returns a command that ends only when it is killed, and the signals that it gets. */
const createProcess = () => {
  const signals: string[] = [];
  const ended = Promise.withResolvers<{ code: null; signal: 'SIGKILL'; exceeded: null }>();
  const process: SandboxedProcess = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    exit: ended.promise,
    interrupt: () => void signals.push('SIGINT'),
    kill: () => {
      signals.push('SIGKILL');
      ended.resolve({ code: null, signal: 'SIGKILL', exceeded: null });
    },
  };
  return { process, signals };
};

it('interrupts a command, and kills it after the grace time', async () => {
  const { process, signals } = createProcess();
  const stop = new PhaseStop(GRACES);
  const supervised = stop.supervise(process, process.exit);
  stop.request('canceled');
  jest.advanceTimersByTime(5_999);
  expect(signals).toEqual(['SIGINT']);
  jest.advanceTimersByTime(1);
  await supervised;
  expect(signals).toEqual(['SIGINT', 'SIGKILL']);
  expect(stop.reason).toBe('canceled');
});

it('shortens the grace time of a canceled command when its lease is lost', async () => {
  const { process, signals } = createProcess();
  const stop = new PhaseStop(GRACES);
  const supervised = stop.supervise(process, process.exit);
  stop.request('canceled');
  stop.request('lease-lost');
  stop.request('shutdown');
  expect([stop.reason, stop.signal.aborted]).toEqual(['lease-lost', true]);
  jest.advanceTimersByTime(600);
  await supervised;
  expect(signals.at(-1)).toBe('SIGKILL');
});

it('kills at once without a grace time', async () => {
  const { process, signals } = createProcess();
  const stop = new PhaseStop({ usual: 6_000, leaseLost: 0 });
  const supervised = stop.supervise(process, process.exit);
  stop.request('lease-lost');
  await supervised;
  expect(signals).toEqual(['SIGKILL']);
});

it('interrupts a command that starts after the request', () => {
  const { process, signals } = createProcess();
  const stop = new PhaseStop(GRACES);
  stop.request('time-limit');
  void stop.supervise(process, process.exit);
  expect(signals).toEqual(['SIGINT']);
});
