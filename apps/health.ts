import { Module, type DynamicModule } from '@nestjs/common';
import { HealthController, createHttpServer, Readiness } from '#api/edge';
import { EventStoreModule } from '#storage/event-store';
import { NestLoggerAdapter, VERSION } from '#platform/host';
import type { Runtime } from './runtime.js';
import { stopServing } from './stop-serving.js';

/** /healthz, /readyz and /metrics of processes without REST, for orchestrators and Prometheus. */
@Module({})
class HealthModule {
  static over(runtime: Runtime): DynamicModule {
    return {
      module: HealthModule,
      imports: [EventStoreModule.with(runtime)],
      controllers: [HealthController],
      providers: [Readiness],
    };
  }
}

export const openHealth = async (runtime: Runtime): Promise<{ stop(): Promise<void> }> => {
  const { settings, logger } = runtime;
  const app = await createHttpServer(HealthModule.over(runtime), {
    tls: null,
    version: VERSION,
    logger: new NestLoggerAdapter(logger),
  });
  await app.listen(settings.port, settings.host);
  return { stop: () => stopServing(app, settings.shutdownDelayMs ?? 0) };
};
