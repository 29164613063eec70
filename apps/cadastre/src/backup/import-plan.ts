import type { ImportPlan } from '#operations/organization-moves';

type PlannedTeam = ImportPlan['teams'][number];
type NamedAccount = ImportPlan['createdAccounts'][number];

const describeAccount = ({ id, username, email }: NamedAccount): string =>
  `${username} (${id})${email === null ? '' : `, ${email}`}`;

const describeGrants = (noun: string, grants: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(grants).map(([level, count]) => `${level} on ${count} ${noun}${count === 1 ? '' : 's'}`);

const describeRights = ({ owns, organizationAccess, workspaces, projects }: PlannedTeam): string => {
  if (owns) return 'everything';
  const rights = Object.entries(organizationAccess).flatMap(([right, isGranted]) => (isGranted ? [right] : []));
  const grants = [...rights, ...describeGrants('project', projects), ...describeGrants('workspace', workspaces)];
  return grants.length === 0 ? 'no rights' : grants.join(', ');
};

const describeTeam = (team: PlannedTeam): string =>
  `${team.name}: ${describeRights(team)}; members: ${team.members.join(', ') || 'none'}`;

const formatList = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

/**
 * Describes what an import gives to people and pipelines. Replaces control characters, so that names in the export cannot
 * control the terminal.
 */
export const formatImportPlan = (plan: ImportPlan): string =>
  [
    `The export says that it contains ${plan.organization} of ${plan.source}. The import will add this access:`,
    ...formatList(
      'New accounts, without tokens and without administration of the site:',
      plan.createdAccounts.map(describeAccount),
    ),
    ...formatList(
      `Accounts of this site that become members of ${plan.organization}:`,
      plan.joiningAccounts.map(
        ({ account, exported }) => `${describeAccount(account)}, in the export ${exported.username} (${exported.id})`,
      ),
    ),
    ...formatList(`Teams, and what they may do in ${plan.organization}:`, plan.teams.map(describeTeam)),
    ...formatList(
      'Issuers whose tokens give access as a team:',
      plan.workloadIdentities.map(({ name, team, issuer }) => `${issuer} as ${team} (${name})`),
    ),
  ]
    .map((line) => line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?'))
    .join('\n');
