import { Module, type DynamicModule } from '@nestjs/common';
import type { ModuleDefinition } from '#storage/event-store';
import { SITE_FACTS, type SiteFacts } from './status/site-facts.js';
import { SiteStatusesController } from './status/site-statuses.controller.js';

/** The module has no events: it records what processes did. */
export const siteDefinition: ModuleDefinition = {
  name: 'site',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'site.job_runs', backup: 'empty', because: 'it describes the processes of the site that was backed up' },
    { table: 'site.verifications', backup: 'empty', because: 'nobody has verified the restored site yet' },
  ],
};

/** Describes the site to its administrators. */
@Module({})
export class SiteModule {
  static with(facts: SiteFacts): DynamicModule {
    return {
      module: SiteModule,
      controllers: [SiteStatusesController],
      providers: [{ provide: SITE_FACTS, useValue: facts }],
    };
  }
}
