import { expect } from '@jest/globals';
import { verify, verifySnapshots, viewsOf, type Slice } from '#event-store';
import type { TestServer } from './server.js';

/** The views of these slices, and the kept states of their streams, are those that the log makes. */
export const expectTrueToTheLog = async (
  { store, house }: Pick<TestServer, 'store' | 'house'>,
  slices: readonly Slice[],
): Promise<void> => {
  for (const view of viewsOf(slices))
    expect([view.name, await verify(store, view, house.clock.now())]).toEqual([view.name, []]);
  expect(await verifySnapshots(store, slices)).toEqual([]);
};
