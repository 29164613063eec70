import { demandUnlockedFolder, inspectMachine, SystemClock } from '#platform/host';
import {
  InvalidSettingsError,
  parseSettings,
  listSettingWarnings,
  type ProcessKind,
  type Settings,
} from '#platform/settings';
import { runUntilStopRequest } from './signals.js';
import { describeFailure } from './start-errors.js';

const clock = new SystemClock();

/** Returns the settings after checking them against the machine. Throws with every problem at once. */
export const loadCheckedSettings = async (kind: ProcessKind): Promise<Settings> => {
  const { settings, lines, invalid } = parseSettings(process.env);
  const problems = [...lines, ...(await inspectMachine(settings, kind, invalid, clock.now()))];
  if (problems.length > 0) {
    // If the process on the port also uses the data folder, reports the folder instead of the port.
    if (problems.every((line) => line.startsWith('PORT:')) && settings.database.mode === 'embedded') {
      await demandUnlockedFolder(settings.dataFolder);
    }
    throw new InvalidSettingsError(problems);
  }
  for (const line of listSettingWarnings(process.env, settings, kind)) process.stderr.write(`Warning: ${line}\n`);
  return settings;
};

export const loadCommandSettings = (): Promise<Settings> => loadCheckedSettings('command');

/** Prints the error and sets the exit code. */
export const withErrorReport =
  <A extends unknown[]>(action: (...parameters: A) => Promise<void>) =>
  async (...parameters: A): Promise<void> => {
    try {
      await action(...parameters);
    } catch (error) {
      process.stderr.write(`${describeFailure(error)}\n`);
      if (['debug', 'trace'].includes(process.env['LOG_LEVEL'] ?? '')) console.error(error);
      process.exitCode = 1;
    }
  };

/** Runs a long command that Ctrl-C stops after its current step. */
export const runResumable = async (work: (stopping: AbortSignal) => Promise<boolean>): Promise<void> => {
  const hasEnded = await runUntilStopRequest(async (stopping) => {
    if (!(await work(stopping))) process.exitCode = 1;
  });
  if (hasEnded) return;
  process.stderr.write('Stopped. Run the same command again to continue.\n');
  process.exitCode = 1;
};
