import { FollowerRunner } from '#storage/event-store';
import { ScheduledJobRunner } from '#platform/postgres';
import { createJobRecorder } from '#operations/site';
import type { Runtime } from '../../runtime.js';
import { createFollowers, createScheduledJobs } from '../../modules.js';

type RunningProjector = { stop(): Promise<void> };

/** Runs the followers of all modules, and the scheduled jobs. */
export const openProjector = (runtime: Runtime): RunningProjector => {
  const { store, clock, logger, settings } = runtime;
  const runners = createFollowers(runtime).map((follower) => new FollowerRunner(store, follower, logger));
  const recordJobRun = createJobRecorder(store.database, clock);
  const timed = createScheduledJobs(runtime, settings).map(
    (job) => new ScheduledJobRunner(store.database, job, logger, recordJobRun),
  );
  for (const running of [...runners, ...timed]) running.start();
  return {
    stop: async () => {
      await Promise.all([...runners, ...timed].map((running) => running.stop()));
    },
  };
};
