import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import {
  InvalidSettingsError,
  inspectMachine,
  parseSettings,
  formatSettingsHelp,
  listSettingWarnings,
  SystemClock,
  lockDataFolder,
  type ProcessKind,
  type Settings,
} from '#host';
import { createProviderCommand } from '../../provider/src/program.js';
import type { Confirm } from './confirmation.js';
import { runKeysRotate, runKeysStatus } from './keys.js';
import {
  runDoctor,
  runMigrate,
  runRebuild,
  runSeed,
  runTokenCreate,
  runTokenList,
  runTokenRevoke,
  runUserForget,
  runUserList,
  runVerify,
  type ListOptions,
  type TokenOptions,
} from './operations.js';
import { runBackup, runRestore } from './backup/backup.commands.js';
import {
  collectUserMapping,
  runOrganizationExport,
  runOrganizationImport,
  type OrganizationExportOptions,
  type OrganizationImportOptions,
} from './backup/organization.commands.js';
import { parsePosition, parseTime, type BackupOptions, type RestoreOptions } from './backup/backup-options.js';
import { addReplayOptions, runReplay, type ReplayCommandOptions } from './replay.commands.js';
import { parseCount, parsePrefix, type SeedOptions } from './seed/seed-options.js';
import { serve, serveGateway, serveProjector, servePublisher } from './serve.js';
import { runUserSignInLink, type SignInLinkOptions } from './sign-in-links.js';
import { runUntilStopped, runUntilStopRequest } from './signals.js';
import { describeFailure } from './start-errors.js';
import { runTopicsApply, runTopicsCheck, runTopicsPlan, type TopicOptions } from './topics.commands.js';

const clock = new SystemClock();

/** Returns the settings after checking them against the machine. Throws with every problem at once. */
const loadCheckedSettings = async (kind: ProcessKind): Promise<Settings> => {
  const { settings, lines, invalid } = parseSettings(process.env);
  const problems = [...lines, ...(await inspectMachine(settings, kind, invalid, clock.now()))];
  if (problems.length > 0) {
    // If the process on the port also uses the data folder, reports the folder instead of the port.
    if (problems.every((line) => line.startsWith('PORT:')) && settings.database.mode === 'embedded') {
      (await lockDataFolder(settings.dataFolder)).release();
    }
    throw new InvalidSettingsError(problems);
  }
  for (const line of listSettingWarnings(process.env, settings, kind)) process.stderr.write(`Warning: ${line}\n`);
  return settings;
};

const loadCommandSettings = (): Promise<Settings> => loadCheckedSettings('command');

/** Prints the error and sets the exit code. */
const withErrorReport =
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

const readManifest = (): { readonly version: string; readonly description: string } => {
  const file = findPackageJSON('..', import.meta.url);
  if (file === undefined) throw new Error('package.json of Cadastre was not found');
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof readManifest>;
};

const { version, description: summary } = readManifest();

export const program = new Command('cadastre')
  .description(summary)
  .version(version, '--version', 'print the version')
  .addHelpText('after', () => `\n${formatSettingsHelp()}`);

const PROCESSES = [
  ['serve', 'everything in one process: REST, followers, publisher', serve],
  ['gateway', 'REST only; you can run any number', serveGateway],
  [
    'projector',
    'followers, such as the audit trail, and scheduled jobs; one is active, others stand by',
    serveProjector,
  ],
  ['publisher', 'publishes the log to Kafka; one is active, others stand by', servePublisher],
] as const;

for (const [name, description, start] of PROCESSES) {
  const command = program.command(name).description(description);
  if (name === 'serve') {
    command
      .option('--workers <number>', 'processes that serve requests (CADASTRE_WORKERS)')
      // Workers inherit the environment.
      .on('option:workers', (workers: string) => (process.env['CADASTRE_WORKERS'] = workers));
  }
  command.action(
    withErrorReport(() => runUntilStopped(async (stopping) => start(await loadCheckedSettings(name), stopping))),
  );
}

program
  .command('migrate')
  .description('migrate the database to this version, then exit')
  .action(withErrorReport(async () => runMigrate(await loadCommandSettings())));

program
  .command('rebuild [view...]')
  .description('rebuild views from the log; all views if you name none')
  .action(withErrorReport(async (views: string[]) => runRebuild(await loadCommandSettings(), views)));

program
  .command('verify')
  .description('compare every view with the log; exits with 1 if one differs')
  .action(
    withErrorReport(async () => {
      if (!(await runVerify(await loadCommandSettings()))) process.exitCode = 1;
    }),
  );

program
  .command('doctor')
  .description('check settings, database, key, files, Kafka, clock and followers; exits with 1 if a check fails')
  .action(
    withErrorReport(async () => {
      if (!(await runDoctor(process.env, () => clock.now()))) process.exitCode = 1;
    }),
  );

program
  .command('seed')
  .description('add organizations with made-up workspaces, for demonstrations and benchmarks')
  .option('--prefix <text>', 'beginning of the names of organizations and users', parsePrefix, 'seed')
  .option('--organizations <n>', 'number of organizations', parseCount(1, 100_000), 1)
  .option('--projects <n>', 'projects of each organization, besides the default project', parseCount(0, 100), 0)
  .option('--workspaces <n>', 'workspaces of each organization', parseCount(0, 10_000_000), 100)
  .option(
    '--trail-entries <n>',
    'lock and unlock workspaces until the audit trail of each organization has this number of entries',
    parseCount(0, 100_000_000),
    0,
  )
  .option('--users <n>', 'users that own the organizations and change the workspaces', parseCount(1, 1_000), 10)
  .option('--days <n>', 'spread the changes over the past days', parseCount(0, 3_650), 30)
  .option('--seed <n>', 'the same number gives the same names, tags and ids', parseCount(0, 999_999_999_999), 1)
  .option('--connections <n>', 'concurrent transactions', parseCount(1, 16), 2)
  .action(withErrorReport(async (options: SeedOptions) => runSeed(await loadCommandSettings(), options)));

const keys = program.command('keys').description('encryption keys of the site: status, rotate');

keys
  .command('status')
  .description('count the values that each key protects; reads the beginning of every encrypted file')
  .option('--json', 'print JSON')
  .action(withErrorReport(async (options: { json?: boolean }) => runKeysStatus(await loadCommandSettings(), options)));

keys
  .command('rotate')
  .description(
    'encrypt everything with CADASTRE_ENCRYPTION_KEY instead of CADASTRE_ENCRYPTION_KEY_PREVIOUS, while servers run; ' +
      'exits with 1 if values are damaged',
  )
  .action(
    withErrorReport(async () => {
      if (!(await runKeysRotate(await loadCommandSettings()))) process.exitCode = 1;
    }),
  );

/** Runs a long command that Ctrl-C stops after its current step. */
const runResumable = async (work: (stopping: AbortSignal) => Promise<boolean>): Promise<void> => {
  const hasEnded = await runUntilStopRequest(async (stopping) => {
    if (!(await work(stopping))) process.exitCode = 1;
  });
  if (hasEnded) return;
  process.stderr.write('Stopped. Run the same command again to continue.\n');
  process.exitCode = 1;
};

const addLocationOptions = (command: Command): Command =>
  command
    .option('--s3-endpoint <url>', 'address of another store with the S3 protocol (CADASTRE_S3_ENDPOINT)')
    .option('--s3-region <name>', 'region of the bucket (CADASTRE_S3_REGION)')
    .option('--s3-path-style', 'addresses contain the bucket in the path (CADASTRE_S3_PATH_STYLE)');

const addKeyOption = (command: Command): Command =>
  command.option(
    '--key-file <file>',
    'file with the key of the backup, 32 bytes in base64, instead of the key of the site',
  );

addLocationOptions(
  addKeyOption(
    program
      .command('backup <destination>')
      .description('back up events, secrets and files, encrypted, to an empty folder or s3://BUCKET/PREFIX'),
  ),
).action(
  withErrorReport((destination: string, options: BackupOptions) =>
    runResumable(async (stopping) => runBackup(await loadCommandSettings(), destination, options, stopping)),
  ),
);

addLocationOptions(
  addKeyOption(
    program
      .command('restore <source>')
      .description('restore a backup into an empty database, rebuild the views, and compare them with the log'),
  )
    .option('--to-position <n>', 'restore events up to the one at this position', parsePosition)
    .option('--to-time <time>', 'restore events up to this time, such as 2026-11-24T10:30:00Z', parseTime)
    .option('--republish', 'publish all events to Kafka again, instead of those that were not published')
    .option('--check', 'read the whole backup, and restore nothing'),
).action(
  withErrorReport((source: string, options: RestoreOptions) =>
    runResumable(async (stopping) => runRestore(await loadCommandSettings(), source, options, stopping)),
  ),
);

const organization = program
  .command('organization')
  .description('move an organization with its history to another site: export, import');

addLocationOptions(
  organization
    .command('export <name> <destination>')
    .description('export events, secrets, files and users of an organization, encrypted, while the server runs')
    .requiredOption('--key-file <file>', 'file with the key of the export; created if it does not exist'),
).action(
  withErrorReport((name: string, destination: string, options: OrganizationExportOptions) =>
    runResumable(async (stopping) =>
      runOrganizationExport(await loadCommandSettings(), { name, destination }, options, stopping),
    ),
  ),
);

addLocationOptions(
  organization
    .command('import <source>')
    .description('import an exported organization into this site: everything, or nothing if it is refused')
    .requiredOption('--key-file <file>', 'file with the key of the export')
    .option('--map-user <old=new>', 'a user of the export is this user of the site; repeatable', collectUserMapping)
    .option('--check', 'read the whole export, and import nothing'),
).action(
  withErrorReport((source: string, options: OrganizationImportOptions) =>
    runResumable(async (stopping) => runOrganizationImport(await loadCommandSettings(), source, options, stopping)),
  ),
);

const topics = program.command('topics').description('topics of Kafka: check, plan, apply');

topics
  .command('check')
  .description('compare the topics with the settings KAFKA_TOPIC_…; exits with 1 if they differ')
  .option('--json', 'print JSON')
  .action(
    withErrorReport(async (options: TopicOptions) => {
      if (!(await runTopicsCheck(await loadCommandSettings(), options))) process.exitCode = 1;
    }),
  );

topics
  .command('plan')
  .description('print what "topics apply" would do, and why it would not change the rest')
  .option('--json', 'print JSON')
  .action(withErrorReport(async (options: TopicOptions) => runTopicsPlan(await loadCommandSettings(), options)));

const token = program.command('token').description('API tokens: create, list, revoke');

token
  .command('create')
  .description('create a token for a user and print it; creates the user if needed')
  .requiredOption('--user <name>', 'name of the user')
  .option('--site-admin', 'make a new user an administrator of the site')
  .option('--email <address>', 'e-mail address of the user, for invitations; replaces the old one')
  .option('--owner-of <organization>', 'make the user an owner of that organization')
  .option('--description <text>', 'what the token is for')
  .option('--never-expires', 'create a token that never expires, instead of after CADASTRE_TOKEN_LIFETIME')
  .option('--init', 'create a new site if there is none')
  .action(withErrorReport(async (options: TokenOptions) => runTokenCreate(await loadCommandSettings(), options)));

token
  .command('list')
  .description('list tokens, never their secrets')
  .option('--user <name>', 'only the tokens of this user')
  .option('--json', 'print JSON')
  .action(withErrorReport(async (options: ListOptions) => runTokenList(await loadCommandSettings(), options)));

token
  .command('revoke <id>')
  .description('revoke a token of any kind, by the id that "token list" shows')
  .action(withErrorReport(async (id: string) => runTokenRevoke(await loadCommandSettings(), id)));

const user = program.command('user').description('users: list, sign-in-link, forget');

user
  .command('list')
  .description('list the users of the site')
  .option('--json', 'print JSON')
  .action(withErrorReport(async (options: ListOptions) => runUserList(await loadCommandSettings(), options)));

/** Returns null if there is no terminal, because nobody could answer. */
const promptAtTerminal = (): Confirm | null =>
  process.stdin.isTTY
    ? async (prompt) => {
        const terminal = createInterface({ input: process.stdin, output: process.stderr });
        try {
          return await terminal.question(prompt);
        } finally {
          terminal.close();
        }
      }
    : null;

topics
  .command('apply')
  .description('create missing topics, and change the configuration of existing ones')
  .option('--yes', 'do not ask for confirmation')
  .action(
    withErrorReport(async (options: { yes?: boolean }) =>
      runTopicsApply(await loadCommandSettings(), { ...options, confirm: promptAtTerminal() }),
    ),
  );

addReplayOptions(
  program
    .command('replay')
    .description('send events of the log to a topic of Kafka again, while the publisher runs; Ctrl-C stops it'),
).action(
  withErrorReport((options: ReplayCommandOptions) =>
    runUntilStopRequest(async (stopping) => {
      if (!(await runReplay(await loadCommandSettings(), options, promptAtTerminal(), stopping))) process.exitCode = 1;
    }).then(() => undefined),
  ),
);

user
  .command('sign-in-link <name>')
  .description('print a link by which a user can sign in once, within 15 minutes')
  .option('--create', 'create the user if there is none with this name')
  .option('--email <address>', 'set the address of the user')
  .option('--reset', 'the link also removes the password, one-time codes and passkeys of the user')
  .option('--yes', 'reset without a confirmation')
  .action(
    withErrorReport(async (name: string, options: SignInLinkOptions) =>
      runUserSignInLink(await loadCommandSettings(), name, { ...options, confirm: promptAtTerminal() }),
    ),
  );

user
  .command('forget <name>')
  .description("remove a user's memberships and tokens, and permanently delete the name from the log and audit trails")
  .option('--yes', 'do not ask for confirmation')
  .action(
    withErrorReport(async (name: string, { yes = false }: { yes?: boolean }) =>
      runUserForget(await loadCommandSettings(), name, { yes, confirm: promptAtTerminal() }),
    ),
  );

program.addCommand(createProviderCommand('provider'));

/** Makes errors print one line and the command for help, instead of the whole help. */
const nameHelpAfterError = (command: Command, path: string): void => {
  command.showHelpAfterError(`See '${path} --help'.`);
  for (const child of command.commands) nameHelpAfterError(child, `${path} ${child.name()}`);
};
nameHelpAfterError(program, program.name());
