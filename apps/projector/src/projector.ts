import { Pruner } from '#audit-trail';
import { FollowerRunner } from '#event-store';
import type { House } from '../../house.js';
import { slices, sweepers } from '../../slices.js';

export type Running = { stop(): Promise<void> };

/** Keeps the followers of all slices going, and the trail within its retention. */
export const openProjector = ({ store, blobs, clock, logger }: House): Running => {
  const followers = [...slices.flatMap((slice) => slice.followers), ...sweepers(blobs)];
  const runners = followers.map((follower) => new FollowerRunner(store, follower, logger));
  const pruner = new Pruner(store.database, clock, logger);
  for (const running of [...runners, pruner]) running.start();
  return {
    stop: async () => {
      await Promise.all([...runners, pruner].map((running) => running.stop()));
    },
  };
};
