import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../../../../test/support/product.js';
import type { Sandbox, SandboxCommand, SandboxedProcess, SandboxMount } from '../sandbox.js';
import {
  buildSettings,
  collectResult,
  missingSandbox,
  listProcesses,
  MIB,
  NODE,
  openSandbox,
  startScript,
  waitForOutput,
  type ScriptResult,
} from '../spec.js';

// Attacks on the executor, on its machine and on other runs, as a configuration could make them.

const execute = promisify(execFile);

const SECRET = 'secret-of-the-executor';
/** Node reserves more memory than the attacks need. */
const ROOMY = buildSettings('https://cadastre.test', { memoryBytes: 4096 * MIB });
const END = { signal: null, exceeded: null };

/** The text of a program that runs a script in a sandbox. */
const buildExecutor = (script: string): string => `
  const { findSandbox } = await import(${JSON.stringify(new URL('../find-sandbox.js', import.meta.url).href)});
  const { sandbox } = await findSandbox({ mode: 'on', limits: ${JSON.stringify(buildSettings('https://cadastre.test').limits)},
    server: new URL('https://cadastre.test'), permittedHosts: [] });
  const command = await sandbox.start({ argv: ['/bin/sh', '-c', ${JSON.stringify(script)}], workingDirectory: '/',
    environment: {}, mounts: [], seconds: 120 });
  command.stdout.pipe(process.stdout);`;

it('creates a sandbox, or describes what this machine lacks', () => {
  expect(missingSandbox ?? 'or set CADASTRE_EXECUTOR_SANDBOX=off').toContain('or set CADASTRE_EXECUTOR_SANDBOX=off');
});

/** The module mmap would keep the files open. */
const MAP_DELETED_FILES = `import ctypes, os, time
system = ctypes.CDLL(None)
system.mmap.restype = ctypes.c_void_p
for name in "abc":
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(file, b"x" * 1000000)
    system.mmap(None, ctypes.c_size_t(1000000), 1, 2, file, ctypes.c_long(0))
    os.close(file)
    os.unlink(name)
time.sleep(1000)`;

const describeSandbox = missingSandbox === null ? describe : undefined;

describeSandbox?.('a command in a sandbox', () => {
  let sandbox: Sandbox;
  let folder: string;
  let work: SandboxMount;
  let running: SandboxedProcess[];

  const start = async (script: string, command: Partial<SandboxCommand> = {}): Promise<SandboxedProcess> => {
    const started = await startScript(sandbox, script, { mounts: [work], workingDirectory: '/work', ...command });
    running.push(started);
    return started;
  };
  const run = async (script: string, command: Partial<SandboxCommand> = {}): Promise<ScriptResult> =>
    collectResult(await start(script, command));

  beforeAll(async () => {
    sandbox = await openSandbox(buildSettings('https://cadastre.test'));
  });

  beforeEach(async () => {
    running = [];
    folder = await mkdtemp(join(tmpdir(), 'cadastre-sandbox-'));
    await mkdir(join(folder, 'work'));
    await writeFile(join(folder, 'token'), SECRET, { mode: 0o600 });
    work = { source: join(folder, 'work'), target: '/work', writable: true };
  });

  afterEach(async () => {
    for (const command of running) command.kill();
    // Unlike rm of Node, the program removes paths of any length.
    await execute('rm', ['-rf', folder]);
  });

  it('gets its environment and working directory, and returns its output and exit code', async () => {
    const result = await run('pwd; echo $GREETING; echo problem >&2; exit 3', { environment: { GREETING: 'hello' } });
    expect(result).toEqual({ output: '/work\nhello\n', errors: 'problem\n', code: 3, ...END });
  });

  it('reports the signal that ended the command', async () => {
    expect(await run('kill -TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it('refuses a working directory that does not exist', async () => {
    await expect(start('true', { workingDirectory: '/missing' })).rejects.toThrow('ENOENT');
  });

  it('changes a writable mount, and reads the others', async () => {
    await writeFile(join(folder, 'rules'), 'read only', { mode: 0o600 });
    const rules = { source: join(folder, 'rules'), target: '/etc/cadastre/rules', writable: false };
    const script = 'cat /etc/cadastre/rules; echo result > result; echo changed > /etc/cadastre/rules';
    expect(await run(script, { mounts: [work, rules] })).toMatchObject({ output: 'read only', code: 2 });
    expect(await readFile(join(folder, 'work/result'), 'utf8')).toBe('result\n');
  });

  it('continues in a work folder that another command of the run has changed', async () => {
    await run('mkdir -m 700 private && echo first > private/file && ln -s /etc/shadow link');
    expect(await run('echo second >> private/file && cat private/file')).toMatchObject({
      output: 'first\nsecond\n',
      code: 0,
    });
  });

  it('cannot read the environment, the arguments and the files of the executor', async () => {
    process.env['CADASTRE_SECRET_OF_TEST'] = SECRET;
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', SECRET]);
    try {
      await once(child, 'spawn');
      const result = await run(`
        env; cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ
        cat ${folder}/token /proc/*/root${folder}/token /proc/*/cwd${folder}/token
        find / -xdev -name token -exec cat {} +
        ls ${folder} ${process.cwd()} /root /home /var/lib /etc/shadow`);
      expect(`${result.output}${result.errors}`).not.toContain(SECRET);
      expect(result.output).not.toContain('package.json');
    } finally {
      child.kill('SIGKILL');
      delete process.env['CADASTRE_SECRET_OF_TEST'];
    }
  });

  it('has no open files of the executor', async () => {
    const { output } = await run('readlink /proc/self/fd/[0-9]');
    // The shell expands the pattern, and its child has the folder closed.
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/\d+/g, 'N')),
    ).toEqual(['/dev/null', 'socket:[N]', 'socket:[N]']);
  });

  it('shows its variables to nobody outside', async () => {
    const command = await start('echo ready; sleep 1000', { environment: { PASSWORD: 'password-of-a-variable' } });
    await waitForOutput(command, 'ready');
    expect((await listProcesses()).filter((line) => line.includes('password-of-a-variable'))).toEqual([]);
  });

  it('has no rights and cannot gain any', async () => {
    const { output } = await run('id -u; grep -E "^(CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status');
    const [user, ...rights] = output.trim().split('\n');
    expect([user === '0', rights]).toEqual([
      false,
      ['CapPrm:\t0000000000000000', 'CapEff:\t0000000000000000', 'CapAmb:\t0000000000000000', 'NoNewPrivs:\t1'],
    ]);
  });

  it.each([
    '/x',
    '/dev/x',
    '/etc/x',
    '/usr/x',
    '/run/x',
    '/run/cadastre/x',
    '/proc/sys/kernel/core_pattern',
    '/etc/passwd',
  ])('cannot write %s', async (path) => {
    expect(await run(`echo x > ${path}`)).toMatchObject({ output: '', code: 2 });
  });

  it('does not see the files and processes of another sandbox', async () => {
    const neighbour = await startScript(
      sandbox,
      'touch /tmp/mark-of-neighbour ~/mark-of-neighbour; echo ready; exec sleep 98761',
    );
    running.push(neighbour);
    await waitForOutput(neighbour, 'ready');
    const result = await run('find /tmp /home /dev/shm /var/tmp; cat /proc/*/cmdline; kill -KILL -1');
    expect(result.output).not.toMatch(/mark-of-neighbour|98761/);
    expect((await listProcesses()).filter((line) => line.startsWith('sleep') && line.includes('98761'))).toHaveLength(
      1,
    );
  });

  it('is interrupted once, without the processes that it has started', async () => {
    const script = `
      let child;
      process.on('SIGINT', () => { console.log('interrupted'); child.stdin.end('stop'); });
      child = require('child_process').spawn('/bin/sh',
        ['-c', 'trap "echo child interrupted" INT; echo ready; read line; echo end'], { stdio: ['pipe', 'inherit', 'inherit'] });`;
    const command = await (
      await openSandbox(ROOMY)
    ).start({
      argv: [NODE, '-e', script],
      workingDirectory: '/',
      environment: {},
      mounts: [],
      seconds: 120,
    });
    let output = '';
    for await (const chunk of command.stdout) {
      output += String(chunk);
      if (!output.includes('ready')) continue;
      command.interrupt();
      command.interrupt();
    }
    expect([output, await command.exit]).toEqual(['ready\ninterrupted\nend\n', { code: 0, ...END }]);
  });

  it('is killed although it ignores signals', async () => {
    const command = await start("trap '' INT TERM HUP; echo ready; while true; do sleep 1; done");
    await waitForOutput(command, 'ready');
    command.interrupt();
    command.kill();
    expect(await command.exit).toEqual({ code: null, signal: 'SIGKILL', exceeded: null });
  });

  it('is killed when its time is over', async () => {
    expect(await run("trap '' INT TERM; sleep 1000", { seconds: 0.5 })).toMatchObject({
      signal: 'SIGKILL',
      exceeded: 'time',
    });
  });

  it('leaves no daemon behind', async () => {
    const result = await run(
      'setsid sh -c "trap \\"\\" INT TERM HUP; sleep 98762" > /dev/null 2>&1 & sleep 98763 & exit 0',
    );
    expect(result).toMatchObject({ code: 0 });
    expect((await listProcesses()).filter((line) => /9876[23]/.test(line))).toEqual([]);
  });

  it('ends with its executor', async () => {
    const executor = spawn(process.execPath, ['--input-type=module', '-e', buildExecutor('exec sleep 98764')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const isRunning = async () =>
      (await listProcesses()).some((line) => line.startsWith('sleep') && line.includes('98764'));
    try {
      await waitUntil(isRunning, 'the command runs');
    } finally {
      executor.kill('SIGKILL');
    }
    await once(executor, 'exit');
    await waitUntil(async () => !(await isRunning()), 'the command has ended');
    expect(executor.signalCode).toBe('SIGKILL');
  });

  it('cannot fork without end, and does not stop its neighbour', async () => {
    const bomb = await start('echo ready; f() { f | f & }; f; wait; sleep 1000');
    await waitForOutput(bomb, 'ready');
    // Another run has another work folder.
    const neighbour = { mounts: [], workingDirectory: '/' };
    const fork = 'for n in 1 2 3 4 5 6 7 8 9 10; do sleep 0 & done; wait; echo done';
    expect(await run(fork, neighbour)).toMatchObject({ output: 'done\n' });
    const result = await run('n=0; while [ $n -lt 100 ]; do sleep 1000 & n=$((n + 1)); done; echo all', neighbour);
    expect(result).toMatchObject({ output: '', errors: expect.stringMatching(/fork/i) });
    bomb.kill();
    await bomb.exit;
  });

  it('cannot fill the memory by one process', async () => {
    expect(await run('tail /dev/zero')).toMatchObject({ output: '', errors: expect.stringContaining('memory') });
  });

  it('is killed when its processes together fill the memory', async () => {
    const script = 'for n in 1 2 3; do (head -c 120000000 /dev/zero; sleep 1000) | tail > /dev/null & done; wait';
    expect(await run(script)).toMatchObject({ signal: 'SIGKILL', exceeded: 'memory' });
  });

  it.each(['/tmp', '/var/tmp', '/dev/shm', '/home/cadastre'])('cannot fill the memory by files in %s', async (path) => {
    const result = await run(`head -c ${2 * MIB} /dev/zero > ${path}/file; stat -c %s ${path}/file`);
    expect(result).toMatchObject({ errors: expect.stringContaining('No space left'), output: `${MIB}\n` });
  });

  it('cannot write a file beyond the limit of the disk', async () => {
    expect(await run(`head -c ${64 * MIB} /dev/zero > file; stat -c %s file`)).toMatchObject({
      output: `${32 * MIB}\n`,
    });
  });

  it.each([
    ['large files', 'n=0; while true; do head -c 100000 /dev/zero > file$n; n=$((n + 1)); done'],
    [
      'files below paths that are longer than the system accepts',
      'd=$(head -c 200 /dev/zero | tr "\\0" d); for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do mkdir $d && cd $d; done; sleep 1000',
    ],
    [
      'deleted files that it has open',
      'for n in 3 4 5; do eval "exec $n> hidden"; rm hidden; head -c 1000000 /dev/zero >&$n; done; sleep 1000',
    ],
    ['deleted files that it has mapped and closed', `exec python3 -c '${MAP_DELETED_FILES}'`],
    ['empty files', 'mkdir -p a/b; n=0; while true; do : > a/b/file$n; n=$((n + 1)); done'],
  ])('is killed when it fills the disk with %s', async (_, script) => {
    const small = await openSandbox(buildSettings('https://cadastre.test', { diskBytes: 2 * MIB }));
    const command = await startScript(small, script, { mounts: [work], workingDirectory: '/work' });
    expect(await collectResult(command)).toMatchObject({ signal: 'SIGKILL', exceeded: 'disk' });
  });

  it('is killed when the disk of the executor is almost full', async () => {
    const full = await openSandbox(buildSettings('https://cadastre.test', { freeBytes: Number.MAX_SAFE_INTEGER }));
    const command = await startScript(full, 'sleep 1000', { mounts: [work], workingDirectory: '/work' });
    expect(await collectResult(command)).toMatchObject({ signal: 'SIGKILL', exceeded: 'space' });
  });

  it('runs no library of its variables outside of the sandbox', async () => {
    const environment = { LD_PRELOAD: '/work/library.so' };
    const { errors } = await run('exit 0', { environment });
    // The loader complains for prlimit and for the shell, which both run inside.
    expect(errors.match(/cannot be preloaded/g)).toHaveLength(2);
  });

  it('gets files of mode 600 that the executor has written', async () => {
    await writeFile(join(folder, 'work/key'), 'private', { mode: 0o600 });
    await chmod(join(folder, 'work'), 0o700);
    expect(await run('cat key')).toMatchObject({ output: 'private', code: 0 });
  });
});
