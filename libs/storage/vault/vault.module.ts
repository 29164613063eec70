import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { EncryptionKeys } from '#platform/encryption';
import { Database } from '#platform/postgres';
import { Vault } from './vault.js';

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
