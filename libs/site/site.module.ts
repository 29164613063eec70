import { Module, type DynamicModule } from '@nestjs/common';
import { SITE_FACTS, type SiteFacts } from './status/site-facts.js';
import { SiteStatusController } from './status/site-status.controller.js';

export type SiteModuleOptions = SiteFacts;

/** Describes the site to its administrators. */
@Module({})
export class SiteModule {
  static with(facts: SiteModuleOptions): DynamicModule {
    return {
      module: SiteModule,
      controllers: [SiteStatusController],
      providers: [{ provide: SITE_FACTS, useValue: facts }],
    };
  }
}
