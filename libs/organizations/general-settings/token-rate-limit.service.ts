import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { TokenRateLimit } from '#api/access';
import { Clock } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { getTokenRateLimit } from './effective-settings.js';
import { DEFAULT_GENERAL_SETTINGS } from './general-settings.js';
import { readGeneralSettings } from './general-settings.view.js';
import { ServerDefaults } from './server-defaults.js';

const REFRESH_MS = 10_000;

/**
 * The rate limit of the settings. A request that comes ten seconds after the last reading starts the next one, without
 * waiting for it, because limits are checked before any lookup in the database.
 */
@Injectable()
export class StoredTokenRateLimit extends TokenRateLimit implements OnApplicationBootstrap {
  private readonly logger = new Logger(StoredTokenRateLimit.name);
  private perSecond: number | null;
  private readAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly defaults: ServerDefaults,
  ) {
    super();
    this.perSecond = getTokenRateLimit(DEFAULT_GENERAL_SETTINGS, defaults);
  }

  onApplicationBootstrap(): Promise<void> {
    return this.refresh();
  }

  getPerSecond(): number | null {
    if (this.clock.now().getTime() - this.readAt >= REFRESH_MS) void this.refresh();
    return this.perSecond;
  }

  /** Reads the limit. If that fails, the limit stays as it is. */
  async refresh(): Promise<void> {
    this.readAt = this.clock.now().getTime();
    try {
      this.perSecond = getTokenRateLimit(await readGeneralSettings(this.database), this.defaults);
    } catch (error) {
      this.logger.warn({ err: error, message: 'cannot read the rate limit of the general settings' });
    }
  }
}
