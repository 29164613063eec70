import { Module, type DynamicModule } from '@nestjs/common';
import { HealthController, createHttpServer, Readiness } from '#edge';
import { EventStoreModule } from '#event-store';
import { NestLoggerAdapter, VERSION } from '#host';
import type { Runtime } from './runtime.js';
import { stopServing } from './stop-serving.js';

/** What processes without REST show to orchestrators and Prometheus: /healthz, /readyz, /metrics. */
@Module({})
class HealthModule {
  static over(house: Runtime): DynamicModule {
    return {
      module: HealthModule,
      imports: [EventStoreModule.with(house)],
      controllers: [HealthController],
      providers: [Readiness],
    };
  }
}

export const openHealth = async (house: Runtime): Promise<{ stop(): Promise<void> }> => {
  const { settings, logger } = house;
  const app = await createHttpServer(HealthModule.over(house), {
    tls: null,
    version: VERSION,
    logger: new NestLoggerAdapter(logger),
  });
  await app.listen(settings.port, settings.host);
  return { stop: () => stopServing(app, settings.shutdownDelayMs ?? 0) };
};
