import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { EncryptionKeys } from '#platform/encryption';
import { Database } from '#platform/postgres';
import { toProjection, type ModuleDefinition } from '#storage/event-store';
import { vault } from './vault.projection.js';
import { findSecretOwner, PURPOSE, Vault } from './vault.js';

export const vaultDefinition: ModuleDefinition = {
  name: 'vault',
  kinds: {},
  aggregates: [],
  projections: [toProjection(vault)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'vault.secrets', backup: 'rows', organizationExport: { listOwners: findSecretOwner } }],
  encryptedColumns: [{ table: 'vault.secrets', id: 'id', column: 'sealed', purpose: PURPOSE }],
};

/** Provides the vault to every module. */
@Global()
@Module({})
export class VaultModule {
  static with({ encryptionKeys }: { readonly encryptionKeys: EncryptionKeys }): DynamicModule {
    const useFactory = (database: Database): Vault => new Vault(database, encryptionKeys);
    const providers = [{ provide: Vault, useFactory, inject: [Database] }];
    return { module: VaultModule, providers, exports: providers };
  }
}
