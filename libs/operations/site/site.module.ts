import { Module, type DynamicModule } from '@nestjs/common';
import { SITE_FACTS, type SiteFacts } from './status/site-facts.js';
import { SiteStatusesController } from './status/site-statuses.controller.js';

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
