import { Command } from 'commander';
import { BadSettings, DataFolderInUse, readSettings, settingsHelp, type Settings } from '#host';
import { serve, type Running } from './serve.js';

/** Says what is wrong in a line or few, without a stack: these are for the operator to mend. */
const explained = (error: unknown): error is Error => error instanceof BadSettings || error instanceof DataFolderInUse;

const settings = (): Settings => readSettings(process.env);

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs until a signal comes, then stops cleanly; a second signal does not wait. */
const untilSignalled = async (running: Running): Promise<void> => {
  await new Promise<void>((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
  process.stderr.write('Stopping …\n');
  for (const signal of SIGNALS) process.once(signal, () => process.exit(1));
  await running.stop();
};

const guarded =
  <A extends unknown[]>(action: (...parameters: A) => Promise<void>) =>
  async (...parameters: A): Promise<void> => {
    try {
      await action(...parameters);
    } catch (error) {
      if (!explained(error)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  };

export const program = new Command('cadastre')
  .description('The public register of your infrastructure: workspaces, tags and providers behind the TFE v2 API')
  .showHelpAfterError()
  .addHelpText('after', () => `\n${settingsHelp()}`);

program
  .command('serve')
  .description('everything in one process: REST, followers, publisher')
  .action(guarded(async () => untilSignalled(await serve(settings()))));
