import { Command } from 'commander';
import { BadSettings, DataFolderInUse, readSettings, settingsHelp, StartRefused, type Settings } from '#host';
import { Refused } from '#kernel';
import { providerCommand } from '../../provider/src/program.js';
import {
  runMigrate,
  runRebuild,
  runTokenCreate,
  runUserForget,
  runVerify,
  UnknownView,
  type TokenOptions,
} from './operations.js';
import { serve, serveGateway, serveProjector, servePublisher, type Running } from './serve.js';

const isPortTaken = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

/** Says what is wrong in a line or few, without a stack: these are for the operator to mend. */
const explained = (error: unknown): error is Error =>
  error instanceof BadSettings ||
  error instanceof DataFolderInUse ||
  error instanceof StartRefused ||
  error instanceof UnknownView ||
  error instanceof Refused ||
  isPortTaken(error);

const settings = (): Settings => readSettings(process.env);

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs until a signal comes, then stops cleanly; a second signal does not wait. */
const untilSignalled = async (start: Promise<Running>): Promise<void> => {
  const signalled = new Promise<void>((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve());
  });
  const running = await start;
  await signalled;
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
    .action(guarded(() => untilSignalled(start(settings()))));
}

program
  .command('migrate')
  .description('bring the database up to date, and stop')
  .action(guarded(() => runMigrate(settings())));

program
  .command('rebuild [view...]')
  .description('make views anew from the log; all of them when none is named')
  .action(guarded((views: string[]) => runRebuild(settings(), views)));

program
  .command('verify')
  .description('compare every view with the log; exits with 1 where one differs')
  .action(
    guarded(async () => {
      if (!(await runVerify(settings()))) process.exitCode = 1;
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
  .action(guarded((options: TokenOptions) => runTokenCreate(settings(), options)));

program
  .command('user')
  .description('people, outside of any request')
  .command('forget <name>')
  .description('end what a user has here, and forget what they were called and where they came from, for good')
  .action(guarded((name: string) => runUserForget(settings(), name)));

program.addCommand(providerCommand('provider'));
