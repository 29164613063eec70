import { Module, type DynamicModule } from '@nestjs/common';
import { HealthController, httpServer, Readiness } from '#edge';
import { EventStoreModule } from '#event-store';
import { NestLog, VERSION } from '#host';
import type { House } from './house.js';
import { stopServing } from './stop-serving.js';

/** What processes without REST show to orchestrators and Prometheus: /healthz, /readyz, /metrics. */
@Module({})
class HealthModule {
  static over(house: House): DynamicModule {
    return {
      module: HealthModule,
      imports: [EventStoreModule.with(house)],
      controllers: [HealthController],
      providers: [Readiness],
    };
  }
}

export const openHealth = async (house: House): Promise<{ stop(): Promise<void> }> => {
  const { settings, logger } = house;
  const app = await httpServer(HealthModule.over(house), {
    tls: null,
    version: VERSION,
    logger: new NestLog(logger),
  });
  await app.listen(settings.port, settings.host);
  return { stop: () => stopServing(app, settings.shutdownDelayMs ?? 0) };
};
