import { expect, it } from '@jest/globals';
import { Database } from '#platform/postgres';
import { MAX_WAITS_OF_RECIPIENT, RunChanges } from './run-changes.service.js';

it('limits the reads of one recipient that wait, so that others can wait', async () => {
  const database = new Database({ url: 'postgres://127.0.0.1:1/none', connections: 1, applicationName: 'waits spec' });
  const changes = new RunChanges(database);
  const ending = new AbortController();
  let [reads, output]: [number, string | null] = [0, null];
  const read = (recipient: string): Promise<string | null> =>
    changes.readUntilFound({ run: 'run-1', recipient }, ending.signal, () => {
      reads += 1;
      return Promise.resolve(output);
    });
  try {
    const waiting = [...Array.from({ length: MAX_WAITS_OF_RECIPIENT }, () => read('user-1')), read('user-2')];
    expect(await read('user-1')).toBeNull();
    expect(reads).toBe(waiting.length);
    output = 'one';
    changes.continueReads('run-1');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['one']));
    expect(await read('user-1')).toBe('one');
  } finally {
    ending.abort();
    await changes.onModuleDestroy();
    await database.close();
  }
});
