/**
 * Flags that limit garbage. By default V8 lets garbage grow with the memory of the machine: a gateway under 64
 * concurrent requests took 435 MB. With 16 MiB instead of 64 for new objects, and growth of the old ones by a half
 * instead of fourfold before a collection, it took 213 MB. Lower values cost lists of 20 a third more CPU.
 */
const FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=50'];

/**
 * These commands process as many events as they can, and end. Less garbage would cost `seed` a third of its CPU. Nothing
 * runs beside them in their process.
 */
const BULK_COMMANDS = ['rebuild', 'seed', 'verify'];
const BULK_FLAGS = ['--max-semi-space-size=32'];

/**
 * By default glibc gives the threads of V8 and libuv up to eight arenas for each processor, and each arena keeps what its
 * threads have freed: 11 MB of a gateway at rest in one measurement. Most threads allocate little, so they share one.
 */
const MALLOC_DEFAULTS = { MALLOC_ARENA_MAX: '1' };

/** Returns the flags for a command that the options of Node do not set. The operator's values take precedence. */
export const selectMissingFlags = (nodeOptions: string, command = ''): readonly string[] => {
  const normalized = nodeOptions.replaceAll('_', '-');
  const flags = BULK_COMMANDS.includes(command) ? BULK_FLAGS : FLAGS;
  return flags.filter((flag) => !normalized.includes(flag.slice(0, flag.indexOf('='))));
};

/**
 * Restarts the process with the flags, because V8 reads them before the program runs. It keeps process id, streams and
 * environment, and takes about 30 ms. If a restart is impossible, or would break an IPC channel, the process continues
 * without the flags.
 */
export const restartWithFlags = (): void => {
  const { execArgv, execPath, argv, env } = process;
  const flags = selectMissingFlags([...execArgv, env['NODE_OPTIONS'] ?? ''].join(' '), argv[2]);
  if (flags.length === 0 || process.platform === 'win32' || process.connected) return;
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...MALLOC_DEFAULTS, ...env });
};
