import type { MatrixRow, MatrixTarget } from '../matrix.js';
import { inAcme, member, onTheWorkspace, openTeam, organization, plainMember } from '../targets.js';

/** The access of a plain member, who is one of the callers. */
const accessOfMember: MatrixTarget = { scope: member.scope, params: organization.params };

const EXPLANATIONS = '/organizations/:organization/access-explanations';

export const access: readonly MatrixRow[] = [
  {
    route: 'GET /organizations/:organization/access-rows',
    about: organization,
    demands: ['read-project-access'],
    status: 200,
    query: () => 'page[size]=100',
    shows: () => ['Default Project', 'beside', 'elsewhere', 'far', 'land', 'one'],
  },
  {
    route: `GET ${EXPLANATIONS}`,
    about: accessOfMember,
    demands: [['read-organization', organization], 'explain-access'],
    status: 200,
    query: ({ world }) => `filter[user]=${plainMember(world).id}&filter[permission]=read-workspace`,
  },
  {
    route: `GET ${EXPLANATIONS}`,
    condition: 'on a workspace',
    about: accessOfMember,
    demands: [
      ['read-organization', organization],
      'explain-access',
      ['read-workspace', { scope: onTheWorkspace, params: organization.params }],
    ],
    status: 200,
    query: ({ world }) =>
      `filter[user]=${plainMember(world).id}&filter[permission]=apply-run&filter[workspace]=${world.one}`,
  },
  {
    route: `GET ${EXPLANATIONS}`,
    condition: 'of a team',
    about: { ...openTeam, scope: inAcme, params: organization.params },
    demands: ['read-organization', 'explain-access'],
    status: 200,
    query: ({ world }) => `filter[team]=${world.openTeam}&filter[permission]=apply-run`,
  },
];
