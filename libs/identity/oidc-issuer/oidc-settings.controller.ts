import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import { ChangeOidcKeys } from './keys/oidc-keys.handler.js';

/** The keys of the issuer, for administrators of the site. */
@Controller('api/v2/admin/oidc-settings')
export class OidcSettingsController {
  constructor(private readonly bus: CommandBus) {}

  @Post('actions/rotate-key')
  @HttpCode(204)
  @RequireRecentSignIn()
  async rotateKey(@CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOidcKeys('RotateKey', { actor }));
  }

  @Post('actions/trim-key')
  @HttpCode(204)
  @RequireRecentSignIn()
  async trimKey(@CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOidcKeys('TrimKeys', { actor }));
  }
}
