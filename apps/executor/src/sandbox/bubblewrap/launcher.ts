import { spawn } from 'node:child_process';
import { connect, createServer, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { LauncherMessage, LaunchOrder } from './launch-order.js';

/*
 * The program that starts the command inside of a sandbox. It runs without the rest of the product, so it imports only Node,
 * and trusts nothing that it guards: the command can replace or end it, and harms only its own run.
 */

/** The executor sends the order as the first line, and later lines `interrupt`. */
const CONTROL_FD = 3;
const PROXY_SOCKET = '/run/cadastre/proxy.sock';

const listen = ({ host, port, socket }: LaunchOrder['listeners'][number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ path: socket, allowHalfOpen: true });
      near.on('error', () => far.destroy());
      far.on('error', () => near.destroy());
      near.pipe(far).pipe(near);
    });
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });

/** The sandbox is created as root if the executor is root. The command is not. */
const leaveRoot = ({ user }: LaunchOrder): void => {
  if (user === null) return;
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
};

const launch = async (order: LaunchOrder, control: Socket): Promise<void> => {
  const report = (message: LauncherMessage, done?: () => void) => control.write(`${JSON.stringify(message)}\n`, done);
  const [program, ...parameters] = order.argv;
  leaveRoot(order);
  await Promise.all(order.listeners.map(listen));
  const child = spawn(program, parameters, {
    cwd: order.workingDirectory,
    env: order.environment,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child.once('error', ({ message }) => report({ failure: message }, () => process.exit(127)));
  child.once('spawn', () => report({ started: true }));
  // The end of this process ends the sandbox, and everything that still runs in it.
  child.once('exit', (code, signal) => report({ code, signal }, () => process.exit(0)));
  control.on('data', () => child.kill('SIGINT'));
};

/** Connects standard input and output with a server, through the proxy: the ProxyCommand of ssh. */
const tunnel = (host: string, port: string): void => {
  const proxy = connect(PROXY_SOCKET, () =>
    proxy.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`),
  );
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    proxy.off('data', readHead);
    const [status = ''] = head.toString('latin1').split('\r\n');
    if (!status.startsWith('HTTP/1.1 200')) {
      process.stderr.write(`${status}\n`);
      process.exit(1);
    }
    process.stdout.write(head.subarray(end + 4));
    proxy.pipe(process.stdout);
    process.stdin.pipe(proxy);
  };
  proxy.on('data', readHead);
};

const [mode, host = '', port = ''] = process.argv.slice(2);
if (mode === 'connect') tunnel(host, port);
else {
  const control = new Socket({ fd: CONTROL_FD, readable: true, writable: true });
  control.on('close', () => process.exit(1));
  const lines = createInterface({ input: control });
  lines.once('line', (line) => {
    lines.close();
    control.resume();
    launch(JSON.parse(line) as LaunchOrder, control).catch((error: unknown) => {
      control.write(`${JSON.stringify({ failure: String(error) } satisfies LauncherMessage)}\n`, () => process.exit(1));
    });
  });
}
