import { parseArgs, type ParseArgsConfig } from 'node:util';
import { toPrintable, VERIFIER_EXIT_CODES, type CommandContext } from './command-line.js';
import { VERIFIER_COMMANDS, type VerifierCommand } from './command-options.js';
import { runVerify } from './verify-command.js';
import { runWatch } from './watch-command.js';

const PROGRAM = 'cadastre-verify';

/** Runs `cadastre-verify` with its arguments, and returns the exit code. */
export const runVerifierProgram = async (parameters: readonly string[], context: CommandContext): Promise<number> => {
  const [name, ...rest] = parameters;
  const command = VERIFIER_COMMANDS.find((one) => one.name === name);
  if (!command) {
    const isHelp = name === '--help' || name === '-h';
    (isHelp ? context.print : context.printError)(formatProgramHelp());
    return isHelp ? VERIFIER_EXIT_CODES.verified : VERIFIER_EXIT_CODES.usage;
  }
  const parsed = parseParameters(command, rest);
  if (typeof parsed === 'string') {
    context.printError(`${toPrintable(parsed)}\nSee '${PROGRAM} ${command.name} --help'.`);
    return VERIFIER_EXIT_CODES.usage;
  }
  const { values, positionals } = parsed;
  if (values['help']) {
    context.print(formatCommandHelp(command));
    return VERIFIER_EXIT_CODES.verified;
  }
  const [argument = ''] = positionals;
  const {
    'stopped-after': stoppedAfter,
    'site-checkpoint': siteCheckpoint,
    'time-stamp-ca': timeStampCa,
    'stamped-within': stampedWithin,
    ...options
  } = values as Readonly<Record<string, never>>;
  return command.name === 'verify'
    ? runVerify(argument, { ...options, siteCheckpoint }, context)
    : runWatch(argument, { ...options, stoppedAfter, timeStampCa, stampedWithin }, context);
};

/** Returns the options and the argument of a command, or why they are wrong. */
const parseParameters = (command: VerifierCommand, args: readonly string[]) => {
  try {
    const parsed = parseArgs({ args: [...args], options: listOptions(command), allowPositionals: true });
    if (parsed.values['help'] || parsed.positionals.length === 1) return parsed;
    return `name one ${command.argument.name}`;
  } catch (error) {
    // For an option that the command does not have, or one without its value.
    if (error instanceof TypeError) return error.message;
    throw error;
  }
};

const listOptions = ({ options }: VerifierCommand): NonNullable<ParseArgsConfig['options']> => ({
  help: { type: 'boolean' },
  ...Object.fromEntries(
    options.map(({ flags, isRepeatable = false }) => {
      const [name = '', value] = flags.slice('--'.length).split(' ');
      return [name, { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: isRepeatable }];
    }),
  ),
});

const formatProgramHelp = (): string =>
  [
    `Usage: ${PROGRAM} <command>`,
    '',
    'Commands:',
    ...VERIFIER_COMMANDS.map(({ name, description }) => `  ${name.padEnd(8)}${description}`),
    '',
    `${PROGRAM} <command> --help shows the options.`,
  ].join('\n');

const formatCommandHelp = ({ name, description, argument, options, help }: VerifierCommand): string =>
  [
    `Usage: ${PROGRAM} ${name} [options] <${argument.name}>`,
    '',
    description,
    '',
    `  ${`<${argument.name}>`.padEnd(24)}${argument.description}`,
    ...options.map((option) => `  ${option.flags.padEnd(24)}${option.description}`),
    help.trimEnd(),
  ].join('\n');
