import { sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';

/** A workload identity in the copies of the views that an import fills. `team` is the id of a team. */
export type ImportedIdentity = { readonly name: string; readonly team: string; readonly issuer: string };

/** Selects the workload identities in the copy of the view that the session's search path finds. */
export const listImportedIdentities = (session: DatabaseSession): Promise<ImportedIdentity[]> =>
  session.run<ImportedIdentity>(sql`select name, team, issuer from workload_identities where enabled order by name`);
