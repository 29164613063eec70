import { createExecutorCommand } from './program.js';

// The executor that a server starts for itself. It ends with the server, however the server ends.

process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The connection must not keep a process running that has nothing to do.
process.channel?.unref();
// The terminal or pipe of the server may close before the process ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

await createExecutorCommand('cadastre-executor').parseAsync();
