import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { selectMissingFlags } from './v8-flags.js';

const MAIN = join(import.meta.dirname, 'main.js');
const TELL = 'data:text/javascript,console.log(JSON.stringify([process.pid,process.execArgv]))';

/** With which options of Node each beginning of the process runs, and under which number. */
const beginnings = async (nodeOptions: string, options: readonly string[] = []): Promise<[number, string[]][]> => {
  const env = { ...process.env, NODE_OPTIONS: `${nodeOptions} --import=${TELL}` };
  const { stdout } = await promisify(execFile)(process.execPath, [...options, MAIN, '--help'], { env });
  expect(stdout).toContain('Usage: cadastre');
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line) as [number, string[]]);
};

const OURS = ['--max-semi-space-size=16', '--heap-growing-percent=50'];

describe('the flags of V8', () => {
  it.each([
    ['', OURS],
    ['--enable-source-maps --max-old-space-size=512', OURS],
    ['--max-semi-space-size=32', OURS.slice(1)],
    ['--max-semi-space-size 32', OURS.slice(1)],
    ['--max_semi_space_size=32 --heap_growing_percent=10', []],
  ])('are ours where the options %j say nothing of them', (given, expected) => {
    expect(selectMissingFlags(given)).toEqual(expected);
  });

  it('are there from the beginning, in the same process', async () => {
    const [first, second, ...others] = await beginnings('', ['--no-deprecation']);
    expect([first?.[1], second?.[1], others]).toEqual([['--no-deprecation'], [...OURS, '--no-deprecation'], []]);
    expect(second?.[0]).toBe(first?.[0]);
  });

  it('leave alone whoever has set them', async () => {
    const options = ['--heap-growing-percent=10'];
    expect(await beginnings('--max-semi-space-size=32', options)).toEqual([[expect.any(Number), options]]);
  });
});
