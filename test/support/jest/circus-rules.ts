import { inspect } from 'node:util';
import { jestExpect } from '@jest/expect';
import { addEventHandler, getState, type State } from 'jest-circus';
import { describeOnSignal, recordProgress } from './progress.ts';

// Rules of Jest's own runner that jest-light-runner leaves out: time limits, failed hooks, and hooks without a selected
// test.

type Block = State['currentDescribeBlock'];
type Test = Extract<Block['children'][number], { readonly type: 'test' }>;
type Hook = Block['hooks'][number];

/** Allows for a busy machine. The first test with Kafka also downloads the broker. */
const TEST_LIMIT_MS = 120_000;
const HOOK_LIMIT_MS = 180_000;
/** The time limit between one test or hook and the next one. */
const BETWEEN_LIMIT_MS = 900_000;

const pattern = new RegExp(process.env['CADASTRE_TEST_NAME_PATTERN'] ?? '', 'i');

// Specs replace these functions with fake timers.
const { setTimeout, clearTimeout } = globalThis;

const withoutStack = (message: string): Error => Object.assign(new Error(message), { stack: message });

/** jest-light-runner prints only the stack of an error. */
const printable = (error: unknown): Error => {
  if (!(error instanceof Error)) return withoutStack(`thrown: ${inspect(error)}`);
  const cause = error.cause === undefined ? '' : `\n[cause]: ${inspect(error.cause)}`;
  error.stack = `${error.stack}${cause}`.replaceAll(/\n.*(?:circus-rules\.ts|\/tinypool\/).*/g, '');
  return error;
};

const withinLimit = async (doing: string, run: () => unknown, limit: number): Promise<void> => {
  recordProgress(jestExpect.getState().testPath ?? '', doing, limit);
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(withoutStack(`did not end within ${limit} ms`)), limit);
  try {
    await Promise.race([run(), tooLate]);
  } catch (error) {
    throw printable(error);
  } finally {
    clearTimeout(timer);
    recordProgress(jestExpect.getState().testPath ?? '', `after ${doing}`, BETWEEN_LIMIT_MS);
  }
};

const ancestorsOf = (block: Block | undefined): Block[] => (block ? [...ancestorsOf(block.parent), block] : []);

/** The titles of a test and of its blocks, without the name of the root block. */
const fullName = (test: Test): string => [...ancestorsOf(test.parent).slice(1), test].map(({ name }) => name).join(' ');

const nameOf = (block: Block): string => (block.parent ? block.name : 'the file');

const isSelected = (test: Test): boolean =>
  test.mode !== 'skip' && (!getState().hasFocusedTests || test.mode === 'only') && pattern.test(fullName(test));

const hasSelectedTest = (block: Block): boolean =>
  block.children.some((child) => (child.type === 'test' ? isSelected(child) : hasSelectedTest(child)));

const failedBlocks = new WeakSet<Block>();
let beforeEachFailed = false;

/** The kind of hook that failed, if tests of the block cannot run; else null. */
const failedHook = (block: Block): string | null => {
  if (beforeEachFailed) return 'beforeEach';
  return ancestorsOf(block).some((ancestor) => failedBlocks.has(ancestor)) ? 'beforeAll' : null;
};

const isAllHook = (type: Hook['type']): boolean => type === 'beforeAll' || type === 'afterAll';

const ruleHook = (hook: Hook, block: Block): void => {
  const run = hook.fn as () => unknown;
  hook.fn = async () => {
    if (isAllHook(hook.type) && !hasSelectedTest(block)) return;
    if (hook.type.startsWith('before') && failedHook(block)) return;
    try {
      await withinLimit(`${hook.type} of ${nameOf(block)}`, run, hook.timeout ?? HOOK_LIMIT_MS);
    } catch (error) {
      if (hook.type === 'beforeAll') failedBlocks.add(block);
      if (hook.type === 'beforeEach') beforeEachFailed = true;
      throw error;
    }
  };
};

const ruleTest = (test: Test): void => {
  const run = test.fn as () => unknown;
  test.fn = async () => {
    const failed = failedHook(test.parent);
    try {
      if (failed) throw withoutStack(`not run, because a ${failed} hook failed`);
      await withinLimit(fullName(test), run, test.timeout ?? TEST_LIMIT_MS);
    } finally {
      beforeEachFailed = false;
    }
  };
};

addEventHandler((event, { currentDescribeBlock: block }) => {
  if (event.name === 'add_hook') ruleHook(block.hooks.at(-1) as Hook, block);
  if (event.name === 'add_test') ruleTest(block.children.at(-1) as Test);
});

describeOnSignal();
