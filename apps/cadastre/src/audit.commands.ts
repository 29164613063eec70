import { Option, type Command } from 'commander';
import {
  createProcessContext,
  runVerify,
  runWatch,
  VERIFIER_COMMANDS,
  VERIFIER_EXIT_CODES,
  type VerifierCommand,
  type VerifierOption,
} from '#packages/trail-verifier';

const RUNNERS = { verify: runVerify, watch: runWatch } as const;

const createOption = ({ flags, description, isRepeatable = false }: VerifierOption): Option => {
  const option = new Option(flags, description);
  return isRepeatable
    ? option.argParser<readonly string[] | undefined>((value, earlier) => [...(earlier ?? []), value])
    : option;
};

const addAuditCommand = (audit: Command, { name, description, argument, options, help }: VerifierCommand): void => {
  const command = audit
    .command(name)
    .description(description)
    .argument(`<${argument.name}>`, argument.description)
    .addHelpText('after', help)
    // Wrong options exit with the code of wrong usage. Commander's default is 1.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : VERIFIER_EXIT_CODES.usage))
    .action(async (source: string, values: Readonly<Record<string, never>>) => {
      process.exitCode = await RUNNERS[name](source, values, createProcessContext());
    });
  for (const option of options) command.addOption(createOption(option));
};

/** Adds `audit verify` and `audit watch`, which need no settings, database or server. */
export const addAuditCommands = (program: Command): void => {
  const audit = program
    .command('audit')
    .description('verify audit trails with the keys of their logs, without a server');
  for (const command of VERIFIER_COMMANDS) addAuditCommand(audit, command);
};
