/** Prints the result of a command. */
export const printLine = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints the growing total on a terminal. A log file gets only the result. */
export const createProgressReporter = (unit: string): ((view: string, more: number) => void) => {
  let total = 0;
  return (view, more) => {
    total += more;
    if (process.stderr.isTTY) process.stderr.write(`\r${view}: ${total} ${unit}`);
  };
};

/**
 * Makes columns as wide as their longest value, and replaces control characters, so that names cannot control the
 * terminal.
 */
export const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lines = [header, ...rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '?')))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
