import { expect } from '@jest/globals';
import { verifySnapshots, withVerifier, listViews, type ModuleDefinition } from '#storage/event-store';
import type { TestServer } from './server.js';

/** Expects the views of these modules, and the snapshots of their streams, to match the log. */
export const expectViewsMatchLog = async (
  { store, runtime }: Pick<TestServer, 'store' | 'runtime'>,
  definitions: readonly ModuleDefinition[],
): Promise<void> => {
  await withVerifier(store, async (verifier) => {
    for (const view of listViews(definitions))
      expect([view.name, await verifier.verify(view, runtime.clock.now())]).toEqual([view.name, []]);
  });
  expect(await verifySnapshots(store, definitions)).toEqual([]);
};
