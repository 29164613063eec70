import { execFile } from 'node:child_process';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode } from '#platform/kernel';
import { RunError } from '../executor-error.js';
import type { Sandbox, SandboxMount } from '../sandbox/sandbox.js';
import { parsePhaseRecord, type PhaseRecord } from './phase-record.js';
import type { IacTool } from '../tools/tool-finder.js';

const execute = promisify(execFile);

/** The name that a workspace has if nobody has chosen one. Terraform keeps its state in another place. */
const DEFAULT_WORKSPACE = 'default';
const OVERRIDE_FILE = 'zzz_backend_override.tf.json';
const MAX_NAME_BYTES = 255;

/** The files that both tools read as overrides. OpenTofu also takes `.tofu`. */
const OVERRIDE_NAME = /^(?:.*_)?override\.(?:tf|tofu)(?:\.json)?$/s;

/** Returns the name of an override file that both tools read after all others: they take them in the order of their bytes. */
const nameLastOverride = (names: readonly string[]): string => {
  const last = [...names.filter((name) => OVERRIDE_NAME.test(name)), OVERRIDE_FILE]
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .at(-1);
  const name = last === undefined || last === OVERRIDE_FILE ? OVERRIDE_FILE : `${last}_override.tf.json`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw new RunError(`The name of the override file ${last} is too long: the executor adds an override file after it.`);
};

/**
 * The files of a phase. A plan and its apply have the same path: terraform writes paths into the plan, and so do modules with
 * `abspath`. In a sandbox that path is the same on all executors. Without one it has the id of the run.
 */
export class PhaseFolder {
  /** What commands can write. */
  readonly space: string;
  /** What commands can read: variables, certificates, and keys. */
  readonly files: string;
  readonly tree: string;
  readonly plan: string;
  readonly log: string;
  /** The policies of the plan and their input. Commands of the run see nothing of them. */
  readonly policies: string;
  /** A copy of the state, which commands cannot change. */
  readonly stateCopy: string;
  private readonly record: string;

  constructor(readonly root: string) {
    this.space = join(root, 'space');
    this.files = join(root, 'files');
    this.tree = join(this.space, 'tree');
    this.plan = join(this.space, 'plan', 'tfplan');
    this.log = join(root, 'log');
    this.policies = join(root, 'policies');
    this.stateCopy = join(root, 'state-copy');
    this.record = join(root, 'phase.json');
  }

  async create(): Promise<void> {
    await this.remove();
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await mkdir(this.files);
    await mkdir(this.policies);
    for (const name of ['tree', 'plan', 'state', 'tmp', 'home'])
      await mkdir(join(this.space, name), { recursive: true });
  }

  /** Describes the phase for an executor that finds the folder later. */
  async writeRecord(record: PhaseRecord): Promise<void> {
    const draft = `${this.record}.draft`;
    await writeFile(draft, JSON.stringify(record), { mode: 0o600, flush: true });
    await rename(draft, this.record);
  }

  /** Resolves to null if there is no complete record. */
  async readRecord(): Promise<PhaseRecord | null> {
    return parsePhaseRecord(await readFile(this.record, 'utf8').catch(() => ''));
  }

  /** Node cannot remove paths of any length, and folders that a run has closed. The programs of the system can. */
  async remove(): Promise<void> {
    try {
      await rm(this.root, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      await execute('chmod', ['-R', 'u+rwX', this.root]);
      await execute('rm', ['-rf', this.root]);
    }
  }

  /** Returns the state file of a workspace. */
  stateFile(workspace: string): string {
    const state = join(this.space, 'state');
    return workspace === DEFAULT_WORKSPACE
      ? join(state, 'terraform.tfstate')
      : join(state, 'workspaces', workspace, 'terraform.tfstate');
  }

  /** Returns the path of a file that commands can read. */
  locateFile(sandbox: Sandbox, name: string): string {
    return join(sandbox.locate(this.filesMount), name);
  }

  private get filesMount(): SandboxMount {
    return { source: this.files, target: '/files', writable: false };
  }

  /** Returns the mounts of commands, and what commands see. */
  mount(sandbox: Sandbox, tool: IacTool) {
    const space: SandboxMount = { source: this.space, target: '/work', writable: true };
    const files = this.filesMount;
    const program: SandboxMount = { source: tool.path, target: `/tools/${tool.name}`, writable: false };
    const seenSpace = sandbox.locate(space);
    return {
      mounts: [space, files, program],
      program: sandbox.locate(program),
      sandboxed: {
        space: seenSpace,
        plan: join(seenSpace, 'plan', 'tfplan'),
        file: (name: string) => this.locateFile(sandbox, name),
        /** The path of a folder of the space. */
        of: (path: string) => seenSpace + path.slice(this.space.length),
      },
    };
  }
}

/** Removes what is no folder: a link would lead the removal of its files elsewhere. */
const removeUnlessFolder = async (path: string): Promise<void> => {
  const stats = await lstat(path).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats !== null && !stats.isDirectory()) await rm(path);
};

/**
 * Lets terraform keep the state in a file outside of the configuration instead of the backend that the configuration names. Then
 * `terraform.workspace` is the name of the workspace, as with a `cloud` block. Removes states that somebody has uploaded.
 */
export const prepareBackend = async (workingDirectory: string, seenSpace: string): Promise<void> => {
  await removeUnlessFolder(join(workingDirectory, '.terraform'));
  for (const name of ['terraform.tfstate', '.terraform/terraform.tfstate', '.terraform/environment'])
    await rm(join(workingDirectory, name), { recursive: true, force: true });
  const local = {
    path: join(seenSpace, 'state', 'terraform.tfstate'),
    workspace_dir: join(seenSpace, 'state', 'workspaces'),
  };
  const content = JSON.stringify({ terraform: [{ backend: { local } }] });
  const file = nameLastOverride(await readdir(workingDirectory));
  // OpenTofu would read the second name instead of the first one.
  for (const name of [file, file.replace(/\.tf\.json$/, '.tofu.json')])
    await rm(join(workingDirectory, name), { recursive: true, force: true });
  await writeFile(join(workingDirectory, file), content, { flag: 'wx' });
};
