import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TrailProblem } from './trail-errors.js';
import type { TimeStampState } from './watched-time-stamps.js';

/** What the webhook receives. Slack and Teams show `text`. */
export type WatchAlarm = {
  readonly text: string;
  readonly alarm: TrailProblem | 'stopped';
  readonly log: string;
  readonly time: string;
  readonly index: number | null;
  /** The last checkpoint that was verified, and the one that is refused. Both together prove a fork to anybody. */
  readonly checkpoints: readonly string[];
};

export const now = (): string => new Date().toISOString();

/** The folder of a monitor: `latest.checkpoint`, and the last checkpoint of each day for `--since`. */
export class CheckpointFolder {
  constructor(private readonly folder: string) {}

  async read(): Promise<{ readonly note: string; readonly time: Date } | null> {
    const [note, time] = await Promise.all([this.readIfThere('latest.checkpoint'), this.readIfThere('latest.time')]);
    if (note === null) return null;
    const since = new Date(time?.trim() ?? '');
    return { note, time: Number.isNaN(since.getTime()) ? new Date() : since };
  }

  private async readIfThere(name: string): Promise<string | null> {
    try {
      return await readFile(join(this.folder, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  async write(note: string): Promise<void> {
    const time = now();
    await this.replace(`${time.slice(0, 10)}.checkpoint`, note);
    await this.replace('latest.time', `${time}\n`);
    await this.replace('latest.checkpoint', note);
  }

  async readStamps(): Promise<TimeStampState | null> {
    const text = await this.readIfThere('time-stamps.json');
    return text === null ? null : (JSON.parse(text) as TimeStampState);
  }

  async writeStamps(state: TimeStampState): Promise<void> {
    await this.replace('time-stamps.json', `${JSON.stringify(state)}\n`);
  }

  /** The bytes as `openssl ts -verify` reads them. */
  async writeStamp({ note, response }: { readonly note: Buffer; readonly response: Buffer }): Promise<void> {
    const day = now().slice(0, 10);
    await this.replace(`${day}.stamped-checkpoint`, note);
    await this.replace(`${day}.tsr`, response);
  }

  async writeAlarm(alarm: WatchAlarm): Promise<void> {
    await this.replace(`alarm-${alarm.time.replaceAll(':', '')}.json`, `${JSON.stringify(alarm, null, 2)}\n`);
  }

  /** A file has its old or its new content after the process is killed. */
  private async replace(name: string, content: string | Buffer): Promise<void> {
    const path = join(this.folder, name);
    await writeFile(`${path}.new`, content, { flush: true });
    await rename(`${path}.new`, path);
  }
}
