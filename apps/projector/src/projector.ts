import { FollowerRunner } from '#event-store';
import type { House } from '../../house.js';
import { slices } from '../../slices.js';

export type Running = { stop(): Promise<void> };

/** Keeps the followers of all slices going. */
export const openProjector = ({ store, logger }: House): Running => {
  const runners = slices
    .flatMap((slice) => slice.followers)
    .map((follower) => new FollowerRunner(store, follower, logger));
  for (const runner of runners) runner.start();
  return {
    stop: async () => {
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
};
