import { Controller, Get, Header } from '@nestjs/common';
import { register } from 'prom-client';
import { Public } from '#access';
import { Database } from '#event-store';
import { sql } from '#kernel';

/** For load balancers, orchestrators and Prometheus. */
@Controller()
@Public()
export class HealthController {
  constructor(private readonly database: Database) {}

  /** The process runs. */
  @Get('healthz')
  @Header('content-type', 'application/json')
  live(): string {
    return '{"status":"ok"}';
  }

  /** It can serve: the database answers; 503 otherwise. */
  @Get('readyz')
  @Header('content-type', 'application/json')
  async ready(): Promise<string> {
    await this.database.rows(sql`select 1 as one`);
    return '{"status":"ok"}';
  }

  @Get('metrics')
  @Header('content-type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}
