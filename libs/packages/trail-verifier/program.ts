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
  try {
    const { values, positionals } = parseArgs({ args: rest, options: listOptions(command), allowPositionals: true });
    if (values['help']) {
      context.print(formatCommandHelp(command));
      return VERIFIER_EXIT_CODES.verified;
    }
    const [argument] = positionals;
    if (argument === undefined || positionals.length > 1) throw new TypeError(`name one ${command.argument.name}`);
    const { 'stopped-after': stoppedAfter, ...options } = values as Readonly<Record<string, never>>;
    return await (command.name === 'verify'
      ? runVerify(argument, options, context)
      : runWatch(argument, { ...options, stoppedAfter }, context));
  } catch (error) {
    // parseArgs throws TypeError for an option that the command does not have.
    if (!(error instanceof TypeError)) throw error;
    context.printError(`${toPrintable(error.message)}\nSee '${PROGRAM} ${command.name} --help'.`);
    return VERIFIER_EXIT_CODES.usage;
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
