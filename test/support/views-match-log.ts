import { expect } from '@jest/globals';
import { verifyView, verifySnapshots, listViews, type ModuleDefinition } from '#event-store';
import type { TestServer } from './server.js';

/** The views of these slices, and the kept states of their streams, are those that the log makes. */
export const expectViewsMatchLog = async (
  { store, runtime }: Pick<TestServer, 'store' | 'runtime'>,
  slices: readonly ModuleDefinition[],
): Promise<void> => {
  for (const view of listViews(slices))
    expect([view.name, await verifyView(store, view, runtime.clock.now())]).toEqual([view.name, []]);
  expect(await verifySnapshots(store, slices)).toEqual([]);
};
