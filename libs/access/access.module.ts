import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthenticateGuard } from './authenticate.guard.js';
import { TokenUses } from './authentication-tokens.uses.js';
import { Authenticator } from './authenticator.js';

@Module({
  providers: [Authenticator, TokenUses, { provide: APP_GUARD, useClass: AuthenticateGuard }],
  exports: [Authenticator],
})
export class AccessModule {}
