import { Injectable } from '@nestjs/common';
import type { Sql } from '#kernel';
import { Vault } from '#vault';
import type { RunRow } from './runs.queries.js';

export type RunVariable = { readonly key: string; readonly value: string };

/** Values of a run's variables. They may be secrets: the log holds their names, and the vault the rest under the run's id. */
@Injectable()
export class RunVariables {
  constructor(private readonly vault: Vault) {}

  /** For the append in which the run is born. */
  encryptForRun(run: string, organization: string, variables: readonly RunVariable[]): readonly Sql[] {
    return variables.length > 0 ? [this.vault.storeSecret(run, organization, JSON.stringify(variables))] : [];
  }

  /** Of a run that has been read with them. */
  of({ id, encryptedVariables }: RunRow): readonly RunVariable[] {
    return encryptedVariables === null ? [] : (JSON.parse(this.vault.unseal(id, encryptedVariables)) as RunVariable[]);
  }
}
