import { FollowerRunner } from '#event-store';
import { ScheduledJobRunner } from '#postgres';
import type { Runtime } from '../../runtime.js';
import { createScheduledJobs, moduleDefinitions, createFileSweepers } from '../../modules.js';

export type RunningProjector = { stop(): Promise<void> };

/** Keeps the followers of all slices going, and does what is due as time goes by. */
export const openProjector = (house: Runtime): RunningProjector => {
  const { store, blobs, logger, settings } = house;
  const followers = [...moduleDefinitions.flatMap((slice) => slice.followers), ...createFileSweepers(blobs)];
  const runners = followers.map((follower) => new FollowerRunner(store, follower, logger));
  const timed = createScheduledJobs(house, settings).map(
    (chore) => new ScheduledJobRunner(store.database, chore, logger),
  );
  for (const running of [...runners, ...timed]) running.start();
  return {
    stop: async () => {
      await Promise.all([...runners, ...timed].map((running) => running.stop()));
    },
  };
};
