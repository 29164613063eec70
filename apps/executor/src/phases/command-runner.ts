import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { RunError } from '../executor-error.js';
import { DOCUMENT_SEPARATOR } from '../documents/document-task.js';
import type { Sandbox, SandboxCommand, SandboxedProcess, SandboxExit, SandboxMount } from '../sandbox/sandbox.js';
import type { IacTool } from '../tools/tool-finder.js';
import type { PhaseStop } from './phase-stop.js';

/** Bytes of the documents that commands print, such as the schemas of its providers. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;
const MAX_ERROR_BYTES = 4_000;

type ToolParameters = readonly string[];
type ToolEnvironment = Readonly<Record<string, string>>;

/** A command of terraform. */
export type ToolCommand = { readonly parameters: ToolParameters; readonly environment: ToolEnvironment };

export type OutputSink = {
  /** A promise delays the command that prints. */
  push(chunk: Buffer): void | Promise<void>;
  end(): void;
};

type CommandRunnerOptions = {
  readonly sandbox: Sandbox;
  readonly mounts: readonly SandboxMount[];
  readonly tool: IacTool;
  /** The path of the program that commands see. */
  readonly program: string;
  readonly workingDirectory: string;
  readonly stop: PhaseStop;
  /** Returns the seconds after which a command is killed. */
  readonly getSeconds: () => number;
};

const EXCEEDED = {
  memory: 'used more memory than a run of this executor can have',
  disk: 'used more disk space than a run of this executor can have',
  space: 'was stopped, because the disk of this executor is almost full',
  time: 'took longer than a run can take',
} as const;

/** Runs commands of terraform in the sandbox. */
export class CommandRunner {
  constructor(private readonly options: CommandRunnerOptions) {}

  /** Runs a command whose output people read. Resolves to whether it succeeded. */
  async stream(command: ToolCommand, createSink: () => OutputSink): Promise<SandboxExit> {
    const { stop, program } = this.options;
    const process = await this.start([program, ...command.parameters], command.environment);
    const reading = [process.stdout, process.stderr].map(async (stream) => {
      const sink = createSink();
      for await (const chunk of stream as AsyncIterable<Buffer>) await sink.push(chunk);
      sink.end();
    });
    const finished = Promise.all([process.exit, ...reading]).catch(async (error: unknown) => {
      // Nothing of the command may continue while its state is stored.
      process.kill();
      await process.exit;
      throw error;
    });
    const [exit] = await stop.supervise(process, finished);
    throwIfExceeded(this.describe(command), exit);
    return exit;
  }

  /**
   * Writes the documents that commands print to a new file, separated by `DOCUMENT_SEPARATOR`. Rejects with a `RunError` if a command
   * fails. One sandbox runs all of them, because its start takes longer than most commands.
   */
  async capture(commands: readonly ToolParameters[], environment: ToolEnvironment, path: string): Promise<void> {
    const { stop, program } = this.options;
    stop.throwIfRequested();
    const script = commands.map((parameters) => ['"$0"', ...parameters.map(quoteForShell)].join(' '));
    const separator = ` && printf '\\${DOCUMENT_SEPARATOR.charCodeAt(0).toString(8).padStart(3, '0')}' && `;
    const process = await this.start(['/bin/sh', '-c', script.join(separator), program], environment);
    const names = commands.map((parameters) => this.describe({ parameters })).join(' or ');
    const limited = limitBytes(process.stdout, MAX_DOCUMENT_BYTES);
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    const written = pipeline(limited, file).then(
      () => null,
      (error: Error) => {
        process.kill();
        return error;
      },
    );
    const work = Promise.all([process.exit, written, readBeginning(process.stderr)]);
    const [exit, failure, messages] = await stop.supervise(process, work);
    stop.throwIfRequested();
    throwIfExceeded(names, exit);
    if (failure instanceof TooManyBytesError)
      throw new RunError(`${names} prints more than ${MAX_DOCUMENT_BYTES} bytes.`);
    if (failure !== null) throw failure;
    if (exit.code !== 0) throw new RunError(`${names} failed: ${messages}`);
  }

  /** Returns the command as people write it, such as `terraform show`. */
  describe({ parameters }: Pick<ToolCommand, 'parameters'>): string {
    const words = parameters.filter((parameter) => /^[a-z]+$/.test(parameter));
    return [this.options.tool.name, ...words].join(' ');
  }

  private start(argv: SandboxCommand['argv'], environment: ToolEnvironment): Promise<SandboxedProcess> {
    const { sandbox, mounts, workingDirectory, getSeconds } = this.options;
    return sandbox.start({ argv, workingDirectory, environment, mounts, seconds: getSeconds() });
  }
}

const throwIfExceeded = (commands: string, { exceeded }: SandboxExit): void => {
  if (exceeded !== null) throw new RunError(`${commands} ${EXCEEDED[exceeded]}.`);
};

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

class TooManyBytesError extends Error {}

async function* limitBytes(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooManyBytesError();
    yield chunk;
  }
}

/** Reads a stream to its end, and returns the first part as text. */
const readBeginning = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  let beginning = Buffer.alloc(0);
  for await (const chunk of stream)
    if (beginning.length < MAX_ERROR_BYTES) beginning = Buffer.concat([beginning, chunk]).subarray(0, MAX_ERROR_BYTES);
  return beginning.toString();
};
