import type { Command } from 'commander';
import { SystemClock } from '#platform/host';
import type { EnvironmentValues } from '#platform/settings';
import { withErrorReport } from '../command-actions.js';
import { runDoctorChecks } from './doctor.js';
import { printLine } from '../output.js';

/** Returns whether no check failed. */
const runDoctor = async (env: EnvironmentValues, now: () => Date): Promise<boolean> => {
  let isHealthy = true;
  await runDoctorChecks(env, now, ({ result, check, detail }) => {
    isHealthy &&= result !== 'FAILED';
    printLine(`${result.padEnd(7)}  ${check}: ${detail}`);
  });
  return isHealthy;
};

/** Adds `doctor`. */
export const addDoctorCommand = (program: Command): void => {
  program
    .command('doctor')
    .description('check settings, database, key, files, Kafka, clock and followers; exits with 1 if a check fails')
    .action(
      withErrorReport(async () => {
        if (!(await runDoctor(process.env, () => new SystemClock().now()))) process.exitCode = 1;
      }),
    );
};
