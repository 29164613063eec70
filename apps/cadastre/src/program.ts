import { Command } from 'commander';
import {
  BadSettings,
  inspectMachine,
  parseSettings,
  settingsHelp,
  settingWarnings,
  SystemClock,
  takeDataFolder,
  type ProcessKind,
  type Settings,
} from '#host';
import { providerCommand } from '../../provider/src/program.js';
import { runMigrate, runRebuild, runTokenCreate, runUserForget, runVerify, type TokenOptions } from './operations.js';
import { serve, serveGateway, serveProjector, servePublisher } from './serve.js';
import { runUntilStopped } from './signals.js';
import { describeFailure } from './start-errors.js';

const clock = new SystemClock();

/** The settings, once they have been checked against the machine. Throws with every problem at once. */
const checkedSettings = async (kind: ProcessKind): Promise<Settings> => {
  const { settings, lines, invalid } = parseSettings(process.env);
  const problems = [...lines, ...(await inspectMachine(settings, kind, invalid, clock.now()))];
  if (problems.length > 0) {
    // If the process on the port has the data folder too, that is what the operator should hear.
    if (problems.every((line) => line.startsWith('PORT:')) && settings.database.mode === 'embedded') {
      (await takeDataFolder(settings.dataFolder)).release();
    }
    throw new BadSettings(problems);
  }
  for (const line of settingWarnings(process.env, settings, kind)) process.stderr.write(`Warning: ${line}\n`);
  return settings;
};

const commandSettings = (): Promise<Settings> => checkedSettings('command');

/** Prints what went wrong and sets the exit code. */
const guarded =
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

export const program = new Command('cadastre')
  .description('The public register of your infrastructure: workspaces, tags and providers behind the TFE v2 API')
  .showHelpAfterError()
  .addHelpText('after', () => `\n${settingsHelp()}`);

const PROCESSES = [
  ['serve', 'everything in one process: REST, followers, publisher', serve],
  ['gateway', 'REST only; any number of them', serveGateway],
  ['projector', 'the followers: audit trail, retention; one leads, others stand by', serveProjector],
  ['publisher', 'the log to Kafka; one leads, others stand by', servePublisher],
] as const;

for (const [name, description, start] of PROCESSES) {
  program
    .command(name)
    .description(description)
    .action(guarded(() => runUntilStopped(async (stopping) => start(await checkedSettings(name), stopping))));
}

program
  .command('migrate')
  .description('bring the database up to date, and stop')
  .action(guarded(async () => runMigrate(await commandSettings())));

program
  .command('rebuild [view...]')
  .description('make views anew from the log; all of them when none is named')
  .action(guarded(async (views: string[]) => runRebuild(await commandSettings(), views)));

program
  .command('verify')
  .description('compare every view with the log; exits with 1 where one differs')
  .action(
    guarded(async () => {
      if (!(await runVerify(await commandSettings()))) process.exitCode = 1;
    }),
  );

program
  .command('token')
  .description('tokens, outside of any request')
  .command('create')
  .description('make a token for a user, who is made too if there is none of that name, and print it')
  .requiredOption('--user <name>', 'name of the user')
  .option('--site-admin', 'make a new user an administrator of the site')
  .option('--email <address>', 'the address by which the user is invited; a new one takes the place of the old')
  .option('--owner-of <organization>', 'make the user an owner of that organization')
  .option('--description <text>', 'what the token is for')
  .action(guarded(async (options: TokenOptions) => runTokenCreate(await commandSettings(), options)));

program
  .command('user')
  .description('people, outside of any request')
  .command('forget <name>')
  .description('end what a user has here, and forget what they were called and where they came from, for good')
  .action(guarded(async (name: string) => runUserForget(await commandSettings(), name)));

program.addCommand(providerCommand('provider'));
