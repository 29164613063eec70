import { expect, it } from '@jest/globals';
import { MIB } from '#storage/blob-store';
import { PlanRedactor } from './plan-redactor.threads.js';

it('refuses an upload before it is read while other uploads need the memory', async () => {
  const redactor = new PlanRedactor();
  const received = Promise.withResolvers<void>();
  const large = redactor.admit(120 * MIB, () => received.promise);
  const reads: string[] = [];
  const read = (name: string) => redactor.admit(24 * MIB, () => Promise.resolve(reads.push(name)));
  await expect(read('too early')).rejects.toMatchObject({ kind: 'unavailable' });
  await redactor.admit(8 * MIB, () => Promise.resolve(reads.push('small')));
  received.reject(new Error('cut short'));
  await expect(large).rejects.toThrow('cut short');
  await read('later');
  expect(reads).toEqual(['small', 'later']);
});
