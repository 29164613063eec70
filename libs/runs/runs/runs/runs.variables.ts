import { Injectable } from '@nestjs/common';
import type { Sql } from '#platform/kernel';
import { Vault } from '#storage/vault';
import type { RunRow } from './runs.queries.js';

export type RunVariable = { readonly key: string; readonly value: string };

/**
 * Values of a run's variables. They may be secrets: the log has their names, and the vault the values under the run's
 * id.
 */
@Injectable()
export class RunVariables {
  constructor(private readonly vault: Vault) {}

  /** Returns the statements that store the values, for the append that creates the run. */
  encryptForRun(run: string, organization: string, variables: readonly RunVariable[]): readonly Sql[] {
    return variables.length > 0 ? [this.vault.storeSecret(run, organization, JSON.stringify(variables))] : [];
  }

  /** Decrypts the values of a run's row. */
  of({ id, encryptedVariables }: Pick<RunRow, 'id' | 'encryptedVariables'>): readonly RunVariable[] {
    return encryptedVariables === null ? [] : (JSON.parse(this.vault.decrypt(id, encryptedVariables)) as RunVariable[]);
  }
}
