import { createExecutorCommand } from './program.js';

// The executor that a server starts for itself. It ends with the server, however the server ends.

const DEFAULT_GRACE_SECONDS = 60;
/** A server that starts again within this time still gets the state of an apply. Later, the next executor sends it. */
const STORE_MS = 30_000;

process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
  const graceSeconds = Number(process.env['CADASTRE_EXECUTOR_GRACE']) || DEFAULT_GRACE_SECONDS;
  setTimeout(() => process.exit(1), graceSeconds * 1_000 + STORE_MS).unref();
});
// The connection must not keep a process running that has nothing to do.
process.channel?.unref();
// The terminal or pipe of the server may close before the process ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await createExecutorCommand('cadastre-executor').parseAsync();
