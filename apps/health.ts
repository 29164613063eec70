import { Module, type DynamicModule } from '@nestjs/common';
import { HealthController, httpServer } from '#edge';
import { EventStoreModule } from '#event-store';
import { NestLog } from '#host';
import type { House } from './house.js';

/** What processes without REST show to orchestrators and Prometheus: /healthz, /readyz, /metrics. */
@Module({})
class HealthModule {
  static over(house: House): DynamicModule {
    return { module: HealthModule, imports: [EventStoreModule.with(house)], controllers: [HealthController] };
  }
}

export const openHealth = async (house: House): Promise<{ stop(): Promise<void> }> => {
  const { settings, ids, logger } = house;
  const app = await httpServer(HealthModule.over(house), { tls: null, ids, logger: new NestLog(logger) });
  await app.listen(settings.port, settings.host);
  return { stop: () => app.close() };
};
