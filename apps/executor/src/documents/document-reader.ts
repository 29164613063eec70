import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { RunError } from '../executor-error.js';
import type { DocumentResult, DocumentTask } from './document-task.js';

const PROGRAM = fileURLToPath(new URL('read-documents.js', import.meta.url));
const MIB = 1024 * 1024;
/** A document of 256 MiB takes about ten seconds. */
const MAX_READ_MS = 300_000;

/** If the machine has no memory left, the kernel ends this process first. */
const offerToKernel = (pid: number): Promise<void> =>
  writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);

/** Parses documents that code of a run has written, each in a process with limited memory and time. */
export class DocumentReader {
  constructor(private readonly memoryBytes: number) {}

  /** Rejects with a `RunError` if the document is not valid, or needs too much memory. */
  async read<Task extends DocumentTask>(task: Task, signal: AbortSignal): Promise<DocumentResult<Task['type']>> {
    const memoryMib = Math.floor(this.memoryBytes / MIB);
    const child = spawn(process.execPath, [`--max-old-space-size=${memoryMib}`, PROGRAM], {
      cwd: '/',
      env: {},
      signal,
      timeout: MAX_READ_MS,
      killSignal: 'SIGKILL',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (child.pid !== undefined) await offerToKernel(child.pid);
    // The process can end before it has read its task.
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(task));
    const [code, output] = await Promise.all([ended, text(child.stdout)]).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
    if (code === 0) return JSON.parse(output) as DocumentResult<Task['type']>;
    const subject =
      task.type === 'ReadPlan' ? 'The plan or the schemas of its providers' : 'The state file of terraform';
    throw new RunError(
      `${subject} cannot be read: not valid JSON, or more than ${memoryMib} MiB of memory are needed.`,
    );
  }
}
