import { listImportedMembers, listImportedTeams, type ImportedTeam, type MovedAccount } from '#identity/people';
import type { DatabaseSession } from '#platform/postgres';
import { listImportedIdentities, type ImportedIdentity } from '#identity/workload-identities';
import type { OrganizationSnapshot } from '../format/organization-export.manifest.js';
import type { ResolvedAccounts } from './accounts.importer.js';

/** An account of this site that an import makes a member, and the account of the export that it stands for. */
type JoiningAccount = { readonly account: MovedAccount; readonly exported: MovedAccount };

/** What an import will add to the access of people and pipelines. The operator reads it before the commit. */
export type ImportPlan = {
  readonly organization: string;
  /** The public URL of the other site, as the export names it. */
  readonly source: string;
  readonly createdAccounts: readonly MovedAccount[];
  readonly joiningAccounts: readonly JoiningAccount[];
  readonly teams: readonly (Omit<ImportedTeam, 'members'> & {
    /** User names at this site. */
    readonly members: readonly string[];
  })[];
  /** `team` is the name of the team. */
  readonly workloadIdentities: readonly ImportedIdentity[];
};

/** Reads the plan from the copies of the views, before anything is changed. */
export const readImportPlan = async (
  session: DatabaseSession,
  { organization, source }: OrganizationSnapshot,
  { created, matched, renamed }: Pick<ResolvedAccounts, 'created' | 'matched' | 'renamed'>,
): Promise<ImportPlan> => {
  const teams = await listImportedTeams(session);
  const members = new Set([...(await listImportedMembers(session)), ...teams.flatMap((team) => team.members)]);
  const accounts = [...created.map(({ account }) => account), ...matched.map(({ account }) => account)];
  const usernames = new Map(accounts.map(({ id, username }) => [id, username]));
  const teamNames = new Map(teams.map(({ id, name }) => [id, name]));
  return {
    organization: organization.name,
    source,
    createdAccounts: created.map(({ account }) => account),
    joiningAccounts: matched.filter(({ exported: { id } }) => members.has(renamed.get(id) ?? id)),
    teams: teams.map((team) => ({ ...team, members: team.members.map((id) => usernames.get(id) ?? id) })),
    workloadIdentities: (await listImportedIdentities(session)).map((identity) => ({
      ...identity,
      team: teamNames.get(identity.team) ?? identity.team,
    })),
  };
};
