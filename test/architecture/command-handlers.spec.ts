import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

type SourceFile = { readonly path: string; readonly text: string };

const readSources = async (): Promise<SourceFile[]> => {
  const files = await readdir(join(ROOT, 'libs'), { recursive: true });
  const paths = files.filter((file) => file.endsWith('.ts') && !/[./]spec\.ts$/.test(file));
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(ROOT, 'libs', path), 'utf8') })));
};

const findAll = (sources: readonly SourceFile[], pattern: RegExp): string[] =>
  sources.flatMap(({ text }) => [...text.matchAll(pattern)].map(([, name = '']) => name)).toSorted();

/** Returns the names of the command classes that have a handler, once for each handler. */
const listHandledCommands = (sources: readonly SourceFile[]): string[] =>
  findAll(sources, /^@CommandHandler\((\w+)\)$/gm);

/** No caller changes these: jobs of the server append their events. */
const CHANGED_BY_JOBS = ['assessment', 'destroyReminder', 'trailLog'];

/** Returns the name of the command class that each aggregate must have: `Change` and the name of the decider. */
const listExpectedCommands = (sources: readonly SourceFile[]): string[] =>
  findAll(sources, /\bdefineAggregate\('\w+', (\w+)\)/g)
    .filter((decider) => !CHANGED_BY_JOBS.includes(decider))
    .map((decider) => `Change${decider.charAt(0).toUpperCase()}${decider.slice(1)}`)
    .toSorted();

let sources: SourceFile[];

beforeAll(async () => {
  sources = await readSources();
});

describe('the command handlers (ADR 2)', () => {
  it('are one for each aggregate', () => {
    expect(listExpectedCommands(sources).length).toBeGreaterThan(20);
    expect(listHandledCommands(sources)).toEqual(listExpectedCommands(sources));
  });

  it('handle the only command classes of the modules', () => {
    expect(findAll(sources, /\bclass (\w+)(?:<[^{]*>)? extends AggregateCommand</g)).toEqual(
      listExpectedCommands(sources),
    );
    expect(findAll(sources, /\bclass (\w+) extends Command</g)).toEqual([]);
  });

  it.each([
    ['a second handler of an aggregate', '@CommandHandler(ChangeWorkspace)\nexport class SecondHandler {}\n'],
    ['a handler without an aggregate', '@CommandHandler(LockWorkspace)\nexport class LockHandler {}\n'],
    ['an aggregate without a handler', "aggregates: [defineAggregate('lamp', lamp)],\n"],
  ])('differ from the aggregates if the sources contain %s', (_, text) => {
    const changed = [...sources, { path: 'planted/planted.handler.ts', text }];
    expect(listHandledCommands(changed)).not.toEqual(listExpectedCommands(changed));
  });
});
