import { createExecutorCommand } from './program.js';
import { getLongestStopMs } from './stop-times.js';

// The executor that a server starts for itself. It ends with the server, however the server ends.

process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.exit(1), getLongestStopMs(process.env)).unref();
});
// The connection must not keep a process running that has nothing to do.
process.channel?.unref();
// The terminal or pipe of the server may close before the process ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await createExecutorCommand('cadastre-executor').parseAsync();
