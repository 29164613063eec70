import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hasIacTools } from '../../../../../test/cli/iac.js';
import { waitUntil } from '../../../../../test/support/product.js';
import type { Sandbox, SandboxedProcess } from '../sandbox.js';
import { buildSettings, collectResult, missingSandbox, MIB, openSandbox, startScript } from '../spec.js';

// Tools with the limits that executors have by default. The built-in provider of terraform needs no network.

const LIMITS = { memoryBytes: 4096 * MIB, processes: 1024 };

const findPath = (program: string): string =>
  spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();

const CONFIGURATION = `
  variable "script" { default = "ls / /home /work; id -u" }
  resource "terraform_data" "attack" {
    triggers_replace = var.script
    provisioner "local-exec" { command = var.script }
  }`;

it('creates a sandbox, or describes what this machine lacks', () => {
  expect(missingSandbox ?? 'or set CADASTRE_EXECUTOR_SANDBOX=off').toContain('or set CADASTRE_EXECUTOR_SANDBOX=off');
});

const describeSandbox = missingSandbox === null ? describe : undefined;

describeSandbox?.('a tool in a sandbox', () => {
  let folder: string;
  let sandbox: Sandbox;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cadastre-sandbox-'));
    await mkdir(join(folder, 'work'));
    await writeFile(join(folder, 'token'), 'secret');
    await writeFile(join(folder, 'work/main.tf'), CONFIGURATION);
    sandbox = await openSandbox(buildSettings('https://cadastre.test', LIMITS));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('leaves over ssh through the proxy', async () => {
    const { output } = await collectResult(await startScript(sandbox, 'ssh -G git@example.com'));
    expect(output).toContain('proxycommand /run/cadastre/node /run/cadastre/launcher.mjs connect');
  });

  if (hasIacTools.length === 0)
    process.stderr.write('no terraform or tofu on PATH: the sandbox was not tested with them\n');

  describe.each(hasIacTools)('%s', (program) => {
    const start = (...parameters: readonly string[]): Promise<SandboxedProcess> =>
      sandbox.start({
        argv: [`/tools/${program}`, ...parameters],
        workingDirectory: '/work',
        environment: { TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' },
        mounts: [
          { source: join(folder, 'work'), target: '/work', writable: true },
          { source: findPath(program), target: `/tools/${program}`, writable: false },
        ],
        seconds: 120,
      });

    it('applies a plan of another command, whose provisioner sees only the sandbox', async () => {
      await collectResult(await start('init', '-input=false'));
      expect(await collectResult(await start('plan', '-out=tfplan'))).toMatchObject({ code: 0 });
      const { output, code } = await collectResult(await start('apply', '-no-color', 'tfplan'));
      expect([code, output]).toEqual([0, expect.stringContaining('Apply complete!')]);
      expect(output).toContain('(local-exec): cadastre\n');
      expect(output).not.toMatch(/secret|token|\(local-exec\): 0\n/);
    });

    it('stops by itself after one interrupt', async () => {
      await collectResult(await start('init', '-input=false'));
      const command = await start('apply', '-auto-approve', '-no-color', '-var=script=echo begun; sleep 1000');
      let output = '';
      command.stderr.resume();
      command.stdout.on('data', (chunk: Buffer) => {
        output += String(chunk);
      });
      await waitUntil(() => output.includes('begun'), 'the provisioner runs');
      command.interrupt();
      expect(await command.exit).toEqual({ code: 1, signal: null, exceeded: null });
      expect(output).toContain('Interrupt received.');
      // The second interrupt ends terraform at once, and can lose the state.
      expect(output).not.toContain('Two interrupts received');
    });
  });
});
