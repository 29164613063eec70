import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addEventHandler } from 'jest-circus';

const BUILD = process.env['CADASTRE_TEST_BUILD'] ?? '';

/** Records the rows that this worker reads, for the reporter that compares them with their types. */
export default async (): Promise<void> => {
  const recorder = pathToFileURL(join(BUILD, 'dist/test/support/rows/recorder.js')).href;
  const { recordRows, saveRecordedRows } = (await import(recorder)) as typeof import('../rows/recorder.js');
  recordRows();
  const save = (): void => saveRecordedRows(join(BUILD, `rows-${process.env['JEST_WORKER_ID']}.json`));
  // At the end of each file: workers are killed without notice.
  addEventHandler((event, { rootDescribeBlock: root }) => {
    if (event.name !== 'add_test' || root.hooks.some(({ fn }) => fn === save)) return;
    root.hooks.push({
      type: 'afterAll',
      fn: save,
      parent: root,
      asyncError: new Error('save'),
      seenDone: false,
      timeout: null,
    });
  });
};
