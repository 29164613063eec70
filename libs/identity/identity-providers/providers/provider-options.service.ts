import { Injectable } from '@nestjs/common';
import type { SignInOption, SignInOptions } from '#identity/sign-in';
import { toIdentityIssuer } from '../protocol/provider-settings.js';
import { ProviderDirectory } from './provider-directory.service.js';

/** Offers the enabled providers on the sign-in page and on the account page. */
@Injectable()
export class ProviderOptions implements SignInOptions {
  constructor(private readonly directory: ProviderDirectory) {}

  async listOptions(): Promise<readonly SignInOption[]> {
    const providers = await this.directory.listEnabled();
    return providers.map(({ id, settings }) => ({
      id,
      name: settings.name,
      issuer: toIdentityIssuer(settings),
      path: `/sign-in/${settings.protocol}/${id}`,
      linkPath: `/account/identity-providers/${id}/link`,
      signOutPath: `/sign-in/${settings.protocol}/${id}/sign-out`,
    }));
  }
}
