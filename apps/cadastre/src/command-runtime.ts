import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { describeMissingSite, hasEmbeddedSite } from '../../database-resources.js';
import { migrateDatabase, openRuntime, type Runtime } from '../../runtime.js';

/** Waits for about ten seconds, because a person waits for the command, and a script must not hang. */
export const RETRIES = 4;

type WithRuntimeOptions = {
  /** Whether to create a new site if there is none. */
  readonly mayInitialise?: boolean;
  readonly mayContinueRestore?: boolean;
};

/** Runs with the database of the server on the same data folder, or with one started for the time of the command. */
export const withRuntime = async (
  settings: Settings,
  work: (runtime: Runtime) => Promise<void>,
  { mayInitialise = false, mayContinueRestore = false }: WithRuntimeOptions = {},
): Promise<void> => {
  if (!mayInitialise && settings.database.mode === 'embedded' && !(await hasEmbeddedSite(settings))) {
    throw new StartupError(describeMissingSite(settings));
  }
  const runtime = await openRuntime(settings, { name: 'command', beside: true, logToStderr: true, retries: RETRIES });
  try {
    await migrateDatabase(runtime, { retries: RETRIES, mayInitialise, mayContinueRestore });
    await work(runtime);
  } finally {
    await runtime.close();
  }
};
