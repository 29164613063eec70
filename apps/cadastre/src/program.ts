import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import { formatSettingsHelp } from '#platform/settings';
import { createExecutorCommand } from '../../executor/src/program.js';
import { createProviderCommand } from '../../provider/src/program.js';
import { addAuditCommands } from './audit.commands.js';
import { addBackupCommands } from './backup/backup.commands.js';
import { addOrganizationCommands } from './backup/organization.commands.js';
import { loadCheckedSettings, withErrorReport } from './command-actions.js';
import { addDoctorCommand } from './doctor/doctor.commands.js';
import { addImportCommand } from './import/import.commands.js';
import { addKeysCommands } from './keys.commands.js';
import { addPoolCommands } from './pools.commands.js';
import { addReplayCommand } from './replay.commands.js';
import { addSeedCommand } from './seed/seed.commands.js';
import { serve, serveGateway, serveProjector, servePublisher } from './serve.js';
import { runUntilStopped } from './signals.js';
import { addTokenCommands } from './tokens.commands.js';
import { addTopicsCommands } from './topics.commands.js';
import { addUserCommands } from './users.commands.js';
import { addViewCommands } from './views.commands.js';

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

addViewCommands(program);
addDoctorCommand(program);
addSeedCommand(program);
addKeysCommands(program);
addBackupCommands(program);
addOrganizationCommands(program);
addImportCommand(program);
addTopicsCommands(program);
addTokenCommands(program);
addUserCommands(program);
addPoolCommands(program);
addReplayCommand(program);
addAuditCommands(program);
program.addCommand(createExecutorCommand('executor'));
program.addCommand(createProviderCommand('provider'));

/** Makes errors print one line and the command for help, instead of the whole help. */
const nameHelpAfterError = (command: Command, path: string): void => {
  command.showHelpAfterError(`See '${path} --help'.`);
  for (const child of command.commands) nameHelpAfterError(child, `${path} ${child.name()}`);
};
nameHelpAfterError(program, program.name());
