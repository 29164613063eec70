import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';

const FLUSH_INTERVAL_MS = 60_000;

/**
 * Records when tokens were last used. Requests only add to a map. Once a minute, and at the end, one statement writes
 * all entries. After a failure the entries wait for the next minute.
 */
@Injectable()
export class TokenUsageRecorder implements OnApplicationShutdown {
  private noted = new Map<string, Date>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly database: Database) {}

  note(token: string, at: Date): void {
    this.noted.set(token, at);
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  /** Writes the recorded uses. Never throws: other parts report an outage, and a later flush writes the entries. */
  async flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.noted.size === 0) return;
    const written = this.noted;
    this.noted = new Map();
    try {
      await this.database.rows(buildUsageUpdate(written));
    } catch {
      // Uses that were recorded meanwhile are newer.
      this.noted = new Map([...written, ...this.noted]);
      this.timer ??= setTimeout(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    if (this.timer) clearTimeout(this.timer);
  }
}

/** Updates only existing tokens, and never to an earlier time, because other gateways write too. */
const buildUsageUpdate = (noted: ReadonlyMap<string, Date>) => sql`
  insert into access.token_uses as known (token, used_at)
  select used.token, used.at
    from unnest(${[...noted.keys()]}::text[], ${[...noted.values()].map((at) => at.toISOString())}::timestamptz[]) as used (token, at)
    join access.token_hashes h on h.token = used.token
   order by used.token
  on conflict (token) do update set used_at = greatest(known.used_at, excluded.used_at)`;
