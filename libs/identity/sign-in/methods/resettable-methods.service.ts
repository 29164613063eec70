import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventContext } from '#platform/kernel';
import type { UserSignInMethods } from '#identity/scim';
import { createMethodsReset } from './sign-in-methods.handler.js';

/** Resets the sign-in methods of users that an identity provider has deleted. */
@Injectable()
export class ResettableMethods implements UserSignInMethods {
  constructor(private readonly bus: CommandBus) {}

  async reset(user: string, context: EventContext): Promise<void> {
    await this.bus.execute(createMethodsReset(user, () => context));
  }
}
