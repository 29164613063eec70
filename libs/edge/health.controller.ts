import { Controller, Get, Header } from '@nestjs/common';
import { register } from 'prom-client';
import { Public } from '#access';
import { Database } from '#event-store';
import { sql, unavailable } from '#kernel';
import { Readiness } from './server.readiness.js';

/** For load balancers, orchestrators and Prometheus. */
@Controller()
@Public()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly readiness: Readiness,
  ) {}

  /** The process runs. */
  @Get('healthz')
  @Header('content-type', 'application/json')
  live(): string {
    return '{"status":"ok"}';
  }

  /** It can serve: the database answers, and the process is not about to stop; 503 otherwise. */
  @Get('readyz')
  @Header('content-type', 'application/json')
  async ready(): Promise<string> {
    await this.database.rows(sql`select 1 as one`);
    if (this.readiness.isStopping) throw unavailable('This server is stopping. Use another one.', 1);
    return '{"status":"ok"}';
  }

  @Get('metrics')
  @Header('content-type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}
