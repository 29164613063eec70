import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { configurationVersion } from './configuration-versions/configuration-version.js';
import { configurationVersionEvents } from './configuration-versions/configuration-version.js';
import { configurationVersions } from './configuration-versions/configuration-versions.projection.js';
import { selectOrganizationFiles } from './configuration-versions/organization-files.queries.js';
import { configurationReads } from './reads.events.js';
import { run } from './runs/run.js';
import { runTokens } from './run-tokens/run-tokens.projection.js';
import { runQueueFollower } from './queue/run-queue.follower.js';
import { runEvents } from './runs.events.js';
import { runs, runSecrets } from './runs.projection.js';

/** Runs, their plans, applies and comments, and the configuration versions that they use. */
export const runsDefinition: ModuleDefinition = {
  name: 'runs',
  kinds: {
    ...runEvents,
    ...configurationVersionEvents,
    ...configurationReads,
  },
  aggregates: [defineAggregate('run', run), defineAggregate('cv', configurationVersion)],
  projections: [
    toProjection(runSecrets),
    toProjection(runTokens),
    toProjection(runs),
    toProjection(configurationVersions),
  ],
  followers: [runQueueFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'runs.kept_archives',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
  ],
  selectOrganizationFiles,
};
