import { ChoreRunner, FollowerRunner } from '#event-store';
import type { House } from '../../house.js';
import { chores, slices, sweepers } from '../../slices.js';

export type Running = { stop(): Promise<void> };

/** Keeps the followers of all slices going, and does what is due as time goes by. */
export const openProjector = (house: House): Running => {
  const { store, blobs, logger, settings } = house;
  const followers = [...slices.flatMap((slice) => slice.followers), ...sweepers(blobs)];
  const runners = followers.map((follower) => new FollowerRunner(store, follower, logger));
  const timed = chores(house, settings).map((chore) => new ChoreRunner(store.database, chore, logger));
  for (const running of [...runners, ...timed]) running.start();
  return {
    stop: async () => {
      await Promise.all([...runners, ...timed].map((running) => running.stop()));
    },
  };
};
