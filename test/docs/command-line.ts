import type { Argument, Command } from 'commander';
import { program } from '../../apps/cadastre/src/program.js';
import { table } from './tables.js';

const code = (text: string): string => `\`${text}\``;

/** Returns the commands without subcommands, in the order of `--help`, with their full names. */
const listCommands = (command: Command, path: readonly string[] = []): (readonly [name: string, command: Command])[] =>
  command.commands.flatMap((child) => {
    const names = [...path, child.name()];
    return child.commands.length > 0 ? listCommands(child, names) : [[names.join(' '), child] as const];
  });

const formatOperand = (operand: Argument): string => {
  const name = operand.name() + (operand.variadic ? '…' : '');
  return operand.required ? `<${name}>` : `[${name}]`;
};

/** Descriptions in `--help` begin with a small letter and have no period. */
const formatDescription = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const renderCommand = ([name, command]: readonly [string, Command]): string[] => {
  const help = command.createHelp();
  const operands = help.visibleArguments(command);
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  const rows = [
    ...operands.map((operand) => [code(operand.name()), help.argumentDescription(operand)]),
    ...options.map((option) => [code(option.flags), help.optionDescription(option)]),
  ];
  return [
    `### ${name}`,
    '',
    ...(operands.length > 0 ? [code(`${name} ${operands.map(formatOperand).join(' ')}`), ''] : []),
    formatDescription(command.description()),
    '',
    ...(rows.length > 0 ? [table(['Argument or option', 'Meaning'], rows), ''] : []),
  ];
};

/** Renders every command with its arguments and options, as `--help` describes them. */
export const commandLinePage = (notice: string): string =>
  [
    '# Command line',
    '',
    notice,
    '',
    'On this page you can look up every command with its arguments and options. Run a command with',
    '`npm run cadastre -- COMMAND`, or `cadastre COMMAND` where the package is installed. `--help` after a command prints the same.',
    '[Commands and processes](commands.md) explains what they need and when to use them.',
    '',
    '## Commands',
    '',
    ...listCommands(program).flatMap(renderCommand),
  ].join('\n');
