import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Database } from '#postgres';
import { Vault } from './vault.js';

/** Provides the vault to every module. */
@Global()
@Module({})
export class VaultModule {
  /** `encryptionKey` has 32 bytes. The vault derives its own key from it. */
  static with({ encryptionKey }: { readonly encryptionKey: Buffer }): DynamicModule {
    const useFactory = (database: Database): Vault => new Vault(database, encryptionKey);
    const providers = [{ provide: Vault, useFactory, inject: [Database] }];
    return { module: VaultModule, providers, exports: providers };
  }
}
