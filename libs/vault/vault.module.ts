import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Database } from '#postgres';
import { Vault } from './vault.js';

/** Gives every slice the vault of the house. */
@Global()
@Module({})
export class VaultModule {
  /** The key is 32 bytes; the vault derives its own from it. */
  static with({ encryptionKey }: { readonly encryptionKey: Buffer }): DynamicModule {
    const useFactory = (database: Database): Vault => new Vault(database, encryptionKey);
    const providers = [{ provide: Vault, useFactory, inject: [Database] }];
    return { module: VaultModule, providers, exports: providers };
  }
}
