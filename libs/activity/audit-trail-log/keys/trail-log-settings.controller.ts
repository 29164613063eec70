import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import { ChangeTrailLogKeys } from './trail-log-keys.handler.js';

/** The keys that sign checkpoints, for administrators of the site. */
@Controller('api/v2/admin/audit-trail-log-settings')
export class TrailLogSettingsController {
  constructor(private readonly bus: CommandBus) {}

  @Post('actions/rotate-key')
  @HttpCode(204)
  @RequireRecentSignIn()
  async rotateKey(@CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTrailLogKeys('RotateKey', { actor }));
  }

  @Post('actions/trim-key')
  @HttpCode(204)
  @RequireRecentSignIn()
  async trimKey(@CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTrailLogKeys('TrimKeys', { actor }));
  }
}
