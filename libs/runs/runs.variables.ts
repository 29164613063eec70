import { Injectable } from '@nestjs/common';
import type { Sql } from '#kernel';
import { Vault } from '#vault';

export type RunVariable = { readonly key: string; readonly value: string };

/** Values of a run's variables. They may be secrets: the log holds their names, and the vault the rest under the run's id. */
@Injectable()
export class RunVariables {
  constructor(private readonly vault: Vault) {}

  /** For the append in which the run is born. */
  kept(run: string, organization: string, variables: readonly RunVariable[]): readonly Sql[] {
    return variables.length > 0 ? [this.vault.seal(run, organization, JSON.stringify(variables))] : [];
  }

  /** Of each of these runs, in one statement; none where none is asked for. */
  async of(runs: readonly string[]): Promise<ReadonlyMap<string, readonly RunVariable[]>> {
    if (runs.length === 0) return new Map();
    const opened = await this.vault.openAll(runs);
    return new Map([...opened].map(([run, text]) => [run, JSON.parse(text) as readonly RunVariable[]]));
  }
}
