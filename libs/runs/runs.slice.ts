import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { configurationVersion } from './configuration-version.js';
import { configurationVersionEvents } from './configuration-versions.events.js';
import { configurationVersions } from './configuration-versions.projection.js';
import { configurationReads } from './reads.events.js';
import { run } from './run.js';
import { runTokens } from './run-tokens.projection.js';
import { runQueueFollower } from './run-queue.follower.js';
import { runEvents } from './runs.events.js';
import { runs, runSecrets } from './runs.projection.js';

/** Runs, their plans, applies and comments, and the configuration versions that they are made of. */
export const runsSlice: Slice = {
  name: 'runs',
  kinds: { ...kindsOf(runEvents), ...kindsOf(configurationVersionEvents), ...kindsOf(configurationReads) },
  aggregates: [aggregate('run', run), aggregate('cv', configurationVersion)],
  projections: [
    projectionOf(runSecrets),
    projectionOf(runTokens),
    projectionOf(runs),
    projectionOf(configurationVersions),
  ],
  followers: [runQueueFollower],
  migrations: new URL('./sql/', import.meta.url),
};
