import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { plainSandbox } from './plain-sandbox.js';

const startScript = (script: string, seconds = 60) =>
  plainSandbox.start({
    argv: ['/bin/sh', '-c', script],
    workingDirectory: '/',
    environment: { GREETING: 'hello' },
    mounts: [],
    seconds,
  });

it('returns the output and the exit code of a command with only its environment', async () => {
  const command = await startScript('echo $GREETING; env | grep -c PATH= >&2; exit 3');
  const [output, errors, exit] = await Promise.all([text(command.stdout), text(command.stderr), command.exit]);
  expect([output, exit]).toEqual(['hello\n', { code: 3, signal: null, exceeded: null }]);
  expect(errors).not.toContain(process.env['PATH']);
});

it('refuses a program that does not exist', async () => {
  const command = { workingDirectory: '/', environment: {}, mounts: [], seconds: 60 };
  await expect(plainSandbox.start({ ...command, argv: ['/no/such/program'] })).rejects.toThrow('ENOENT');
});

/** A command whose child ends when the command has received SIGINT. The child reports a SIGINT of its own. */
const COMMAND_WITH_CHILD = `
  let child;
  process.on('SIGINT', () => { console.log('interrupted'); child.stdin.end('stop'); });
  child = require('child_process').spawn('/bin/sh',
    ['-c', 'trap "echo child interrupted" INT; echo ready; read line; echo end'], { stdio: ['pipe', 'inherit', 'inherit'] });`;

it('sends one SIGINT to the command only', async () => {
  const command = await plainSandbox.start({
    argv: [process.execPath, '-e', COMMAND_WITH_CHILD],
    workingDirectory: '/',
    environment: {},
    mounts: [],
    seconds: 60,
  });
  let output = '';
  for await (const chunk of command.stdout) {
    output += String(chunk);
    if (!output.includes('ready')) continue;
    command.interrupt();
    command.interrupt();
  }
  expect([output, await command.exit]).toEqual([
    'ready\ninterrupted\nend\n',
    { code: 0, signal: null, exceeded: null },
  ]);
});

it('kills the command and its children when the time is over', async () => {
  const command = await startScript("trap '' INT TERM; sleep 1000 & sleep 1000", 0.1);
  expect(await command.exit).toEqual({ code: null, signal: 'SIGKILL', exceeded: 'time' });
});

it('kills what the command leaves behind in its group', async () => {
  const command = await startScript('sleep 1000 & exit 0');
  expect(await command.exit).toEqual({ code: 0, signal: null, exceeded: null });
});
