import { AggregateCommand, type Operation } from '#storage/event-store';
import type { Actor } from '#api/access';
import type { IdentityProviderRow } from './identity-providers.queries.js';
import type { ProviderChanges, ProviderSettings } from '../protocol/provider-settings.js';

/** `clientSecret`: undefined to keep the present one, null for none. */
type ProviderInput<Settings> = {
  readonly settings: Settings;
  readonly clientSecret: string | null | undefined;
  readonly actor: Actor;
};

type RequiredSettings = Pick<ProviderSettings, 'name' | 'issuer' | 'clientId'>;

export type IdentityProviderOperations = {
  CreateIdentityProvider: Operation<ProviderInput<ProviderChanges & RequiredSettings>, IdentityProviderRow>;
  UpdateIdentityProvider: Operation<ProviderInput<ProviderChanges> & { id: string }, IdentityProviderRow>;
  DeleteIdentityProvider: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeIdentityProvider<T extends keyof IdentityProviderOperations> extends AggregateCommand<
  IdentityProviderOperations,
  T
> {}
