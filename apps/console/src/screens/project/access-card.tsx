import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectAccessQuery, type TeamProjectAccess } from '../../api/access.js';
import type { Project } from '../../api/projects.js';
import { useResourceNames, type NamesById } from '../../api/resource-names.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import type { RowActionsProps } from '../../components/row-actions.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { describeLevel } from './access-levels.js';

const AccessDialog = lazyComponent(() => import('./access-dialogs.js'), 'ProjectAccessDialog');
const RemoveAccessDialog = lazyComponent(() => import('./access-dialogs.js'), 'RemoveAccessDialog');

const NO_CHANGE = 'You need a team with admin access to this project, or that may manage projects.';

type AccessCardProps = { readonly organization: string; readonly project: Project };
type OpenDialog =
  { readonly kind: 'give' } | { readonly kind: 'change' | 'remove'; readonly access: TeamProjectAccess };

const toTeam = ({ relationships }: TeamProjectAccess): string => relationships.team.data.id;

type TableProps = AccessCardProps & {
  readonly accesses: readonly TeamProjectAccess[];
  readonly names: NamesById;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const AccessTable = ({ organization, project, accesses, names, onOpen }: TableProps) => {
  const nameOf = (access: TeamProjectAccess) => names.get(toTeam(access)) ?? toTeam(access);
  const columns: readonly DataColumn<TeamProjectAccess>[] = [
    {
      header: 'Team',
      cell: (access) => (
        <TextLink to="/$organization/teams/$team" params={{ organization, team: toTeam(access) }}>
          {nameOf(access)}
        </TextLink>
      ),
    },
    {
      header: 'Access',
      cell: ({ attributes: { access } }) => (
        <>
          {access}
          <Text size="xs" c="dimmed">
            {describeLevel(access)}
          </Text>
        </>
      ),
    },
  ];
  const listActions = (access: TeamProjectAccess): RowActionsProps => ({
    name: nameOf(access),
    actions: [
      { action: 'Change', onClick: () => onOpen({ kind: 'change', access }) },
      { action: 'Remove', isDangerous: true, onClick: () => onOpen({ kind: 'remove', access }) },
    ],
  });
  const canManage = project.attributes.permissions['can-manage-teams'];
  return (
    <DataTable
      label="Teams with access"
      rows={accesses}
      columns={columns}
      actions={canManage ? listActions : undefined}
      isInCard
    />
  );
};

type ContentProps = AccessCardProps & { readonly onOpen: (dialog: OpenDialog) => void; readonly names: NamesById };

const Accesses = ({ organization, project, ...table }: ContentProps) => {
  const query = useQuery(projectAccessQuery(organization, project.id));
  return (
    <QueryState query={query} what="project" loading={<LoadingLines count={3} height={24} />}>
      {(accesses) =>
        accesses.length === 0 ? (
          <Text size="sm">No team has access to this project alone.</Text>
        ) : (
          <AccessTable organization={organization} project={project} accesses={accesses} {...table} />
        )
      }
    </QueryState>
  );
};

const useTeamNames = ({ organization, project }: AccessCardProps): NamesById => {
  const canRead = project.attributes.permissions['can-read-teams'];
  const { data = [] } = useQuery({ ...projectAccessQuery(organization, project.id), enabled: canRead });
  return useResourceNames(organization, [data.map(toTeam)]);
};

/** The teams with access to the project. Owners and teams with access to the whole organization are not among them. */
export const AccessCard = (props: AccessCardProps) => {
  const { organization, project } = props;
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const names = useTeamNames(props);
  const permissions = project.attributes.permissions;
  const give = (
    <CreateButton
      label="Give a team access"
      size="compact-sm"
      variant="default"
      isPermitted={permissions['can-manage-teams']}
      reason={NO_CHANGE}
      onClick={() => setDialog({ kind: 'give' })}
    />
  );
  const common = { organization, project, onClose: () => setDialog(null) };
  return (
    <Card title="Access of teams" actions={give}>
      {permissions['can-read-teams'] ? (
        <Accesses {...props} names={names} onOpen={setDialog} />
      ) : (
        <Text size="sm">You need a team that may read the access to this project to see it.</Text>
      )}
      <Text size="sm" c="dimmed">
        Owners, and teams with access to the whole organization, have access too.
      </Text>
      <TextLink to="/$organization/teams/access" params={{ organization }} search={{ project: project.id }}>
        Access of all teams
      </TextLink>
      {dialog?.kind === 'give' && <AccessDialog {...common} access={null} name="" />}
      {dialog?.kind === 'change' && (
        <AccessDialog {...common} access={dialog.access} name={names.get(toTeam(dialog.access)) ?? ''} />
      )}
      {dialog?.kind === 'remove' && (
        <RemoveAccessDialog {...common} access={dialog.access} name={names.get(toTeam(dialog.access)) ?? ''} />
      )}
    </Card>
  );
};
