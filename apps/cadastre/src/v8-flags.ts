/**
 * By itself V8 lets garbage grow with the memory of the machine: a gateway under 64 requests at once took 435 MB. So
 * objects get 16 MiB in which to be new, of 64, and those that have grown old may grow by half before they are looked
 * through, and not fourfold: 213 MB. Less than that costs lists of 20 a third more CPU.
 */
const FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=50'];

/** Those about which `given`, the options of Node, says nothing: what the operator has set counts. */
export const selectMissingFlags = (given: string): readonly string[] => {
  const named = given.replaceAll('_', '-');
  return FLAGS.filter((flag) => !named.includes(flag.slice(0, flag.indexOf('='))));
};

/**
 * V8 reads them before anything runs. So the process begins anew, with its number, its streams and its environment,
 * however it was started: some 30 ms. Where that cannot be, or somebody has a channel to it that would break, it goes on
 * as it is.
 */
export const restartWithFlags = (): void => {
  const { execArgv, execPath, argv, env } = process;
  const flags = selectMissingFlags([...execArgv, env['NODE_OPTIONS'] ?? ''].join(' '));
  if (flags.length === 0 || process.platform === 'win32' || process.connected) return;
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], env);
};
