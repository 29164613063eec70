import { Controller, Get, Header } from '@nestjs/common';
import { register } from 'prom-client';
import { ConfigureRoute, Public } from '#api/access';
import { Database } from '#platform/postgres';
import { sql, unavailable } from '#platform/kernel';
import { renderMetrics } from './process-metrics.js';
import { Readiness } from './server.readiness.js';

const CACHE_TIME_FACTOR = 10;

/** Serves load balancers, orchestrators and Prometheus. */
@Controller()
@Public()
export class HealthController {
  private check: Promise<unknown> | null = null;
  private rendered: { readonly text: Promise<string>; readonly until: number } | null = null;

  constructor(
    private readonly database: Database,
    private readonly readiness: Readiness,
  ) {}

  /** Responds 200 while the process runs. */
  @Get('healthz')
  @ConfigureRoute({ isUnlimited: true, isEssential: true })
  @Header('content-type', 'application/json')
  live(): string {
    return '{"status":"ok"}';
  }

  /**
   * Responds 200 if the process can serve: the database responds and the process is not about to stop. Otherwise 503.
   */
  @Get('readyz')
  @ConfigureRoute({ isUnlimited: true, isEssential: true })
  @Header('content-type', 'application/json')
  async ready(): Promise<string> {
    if (this.readiness.isStopping) throw unavailable('This server is stopping. Use another one.', 1);
    // Concurrent requests share one statement, because this route has no rate limit.
    this.check ??= this.database.rows(sql`select 1 as one`).finally(() => (this.check = null));
    await this.check;
    return '{"status":"ok"}';
  }

  @Get('metrics')
  @ConfigureRoute({ isUnlimited: true, isEssential: true })
  @Header('content-type', register.contentType)
  async metrics(): Promise<string> {
    const now = performance.now();
    if (this.rendered && now < this.rendered.until) return this.rendered.text;
    this.database.reportLoad();
    const text = renderMetrics();
    this.rendered = { text, until: Number.POSITIVE_INFINITY };
    try {
      return await text;
    } finally {
      // The text is reused for ten times as long as it took to render. This route has no rate limit, and so needs at
      // most a tenth of a core.
      const took = performance.now() - now;
      this.rendered = { text, until: now + CACHE_TIME_FACTOR * took };
    }
  }
}
