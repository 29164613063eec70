import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { selectMissingFlags } from './v8-flags.js';

const MAIN = join(import.meta.dirname, 'main.js');
const PRINT_PROCESS =
  'data:text/javascript,console.log(JSON.stringify([process.pid,process.execArgv,process.env.MALLOC_ARENA_MAX]))';

type Beginning = [pid: number, options: string[], arenas: string | null];

/** Starts the product. Returns process id, Node options and malloc arenas for each time that its program begins. */
const beginnings = async (
  nodeOptions: string,
  options: readonly string[] = [],
  variables: NodeJS.ProcessEnv = {},
): Promise<Beginning[]> => {
  const { MALLOC_ARENA_MAX: _, ...inherited } = process.env;
  const env = { ...inherited, NODE_OPTIONS: `${nodeOptions} --import=${PRINT_PROCESS}`, ...variables };
  const { stdout } = await promisify(execFile)(process.execPath, [...options, MAIN, '--help'], { env });
  expect(stdout).toContain('Usage: cadastre');
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line) as Beginning);
};

const OURS = ['--max-semi-space-size=16', '--heap-growing-percent=50'];

describe('the V8 flags', () => {
  it.each([
    ['', OURS],
    ['--enable-source-maps --max-old-space-size=512', OURS],
    ['--max-semi-space-size=32', OURS.slice(1)],
    ['--max-semi-space-size 32', OURS.slice(1)],
    ['--max_semi_space_size=32 --heap_growing_percent=10', []],
  ])('are added unless the options %j set them', (options, expected) => {
    expect(selectMissingFlags(options)).toEqual(expected);
  });

  it('let commands for many events create more garbage', () => {
    expect(selectMissingFlags('', 'seed')).toEqual(['--max-semi-space-size=32']);
    expect(selectMissingFlags('--max-semi-space-size=32', 'rebuild')).toEqual([]);
  });

  it('are set by a restart in the same process', async () => {
    const [first, second, ...furtherStarts] = await beginnings('', ['--no-deprecation']);
    expect([first?.[1], second?.[1], furtherStarts]).toEqual([['--no-deprecation'], [...OURS, '--no-deprecation'], []]);
    expect(second?.[0]).toBe(first?.[0]);
  });

  it.each([
    [{}, '1'],
    [{ MALLOC_ARENA_MAX: '4' }, '4'],
  ])('come with one malloc arena, unless the variables %j set the number', async (variables, arenas) => {
    expect((await beginnings('', [], variables)).at(-1)?.[2]).toBe(arenas);
  });

  it('cause no restart if the operator has set them', async () => {
    const options = ['--heap-growing-percent=10'];
    expect(await beginnings('--max-semi-space-size=32', options)).toEqual([[expect.any(Number), options, null]]);
  });
});
