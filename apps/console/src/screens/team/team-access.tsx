import { Checkbox, Fieldset, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { teamAccessQuery, type AccessMatrixRow } from '../../api/access.js';
import { isDenied } from '../../api/api-error.js';
import { listRows } from '../../api/pages.js';
import { useChangeTeam } from '../../api/teams.js';
import { Card } from '../../components/card.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PagedList } from '../../components/paged-list.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { TextLink } from '../../components/text-link.js';
import { formatName } from '../../components/words.js';
import { listAccessSources } from '../access/access-sources.js';
import { useIsOwnersTeam, useShownTeam, type TeamProps } from './shown-team.js';
import { RIGHT_GROUPS } from './team-rights.js';
import classes from '../../components/table-frame.module.css';

const AccessDialog = lazyComponent(() => import('../access/access-dialog.js'), 'AccessDialog');

const NO_CHANGE =
  'An owner of the organization can change these rights, or a team that may manage teams and organization access.';

/** Sends only the rights that change. */
const useChangeRights = (organization: string, id: string) => {
  const { error, isPending, mutate } = useChangeTeam(organization, id);
  type Rights = TeamProps['team']['attributes']['organization-access'];
  return {
    error,
    isPending,
    mutate: (rights: Partial<Rights>, callbacks: { readonly onSuccess: () => void }) =>
      mutate({ 'organization-access': rights }, callbacks),
  };
};

const RightsCard = ({ organization, team }: TeamProps) => {
  const { permissions, 'organization-access': present } = team.attributes;
  const form = useSettings(present, useChangeRights(organization, team.id));
  return (
    <SettingsCard
      title="Rights in the whole organization"
      form={form}
      canChange={permissions['can-update-organization-access']}
      reason={NO_CHANGE}
    >
      {RIGHT_GROUPS.map(({ title, rights }) => (
        <Fieldset key={title} legend={title}>
          <Stack gap="sm">
            {rights.map(([right, allows]) => (
              <Checkbox key={right} label={formatName(right)} description={allows} {...form.checkbox(right)} />
            ))}
          </Stack>
        </Fieldset>
      ))}
    </SettingsCard>
  );
};

const OwnersCard = () => (
  <Card title="Rights in the whole organization">
    <Text size="sm">
      Everything: the members of this team own the organization. Nobody can change what the team may do.
    </Text>
  </Card>
);

type RowProps = { readonly organization: string; readonly row: AccessMatrixRow };

const RowName = ({ organization, row: { attributes, relationships } }: RowProps) =>
  attributes.kind === 'workspaces' ? (
    <Link
      to="/$organization/workspaces/$workspace"
      params={{ organization, workspace: attributes.name }}
      className={classes['name']}
    >
      {attributes.name}
    </Link>
  ) : (
    <Link
      to="/$organization/teams/access"
      params={{ organization }}
      search={{ project: relationships.project.data.id }}
      className={classes['name']}
    >
      {attributes.name}
    </Link>
  );

/** Returns the level of the access to the row itself, not to the project of a workspace. */
const findLevel = ({ attributes: { kind, accesses } }: AccessMatrixRow, team: string): string =>
  accesses.find((access) => access.team === team && access.on === (kind === 'workspaces' ? 'workspace' : 'project'))
    ?.level ?? '–';

type AccessTableProps = TeamProps & {
  readonly rows: readonly AccessMatrixRow[];
  readonly onOpen: (row: AccessMatrixRow) => void;
};

const AccessTable = ({ organization, team, rows, onOpen }: AccessTableProps) => {
  const columns: readonly DataColumn<AccessMatrixRow>[] = [
    { header: 'Name', cell: (row) => <RowName organization={organization} row={row} /> },
    {
      header: 'Kind',
      cell: ({ attributes }) =>
        attributes.kind === 'projects' ? 'Project' : `Workspace in ${attributes['project-name']}`,
    },
    { header: 'Access', cell: (row) => formatName(findLevel(row, team.id)) },
  ];
  return (
    <DataTable
      label="Projects and workspaces"
      rows={rows}
      columns={columns}
      actions={(row) => ({
        name: `the access to ${row.attributes.name}`,
        actions: [{ action: 'Change', onClick: () => onOpen(row) }],
      })}
      isInCard
    />
  );
};

const ResourceAccess = ({ organization, team }: TeamProps) => {
  const query = useInfiniteQuery(teamAccessQuery(organization, team.id));
  const [opened, setOpened] = useState<string | null>(null);
  const owners = useIsOwnersTeam({ organization, team }) === true ? team.id : undefined;
  const row = listRows(query.data).find(({ id }) => id === opened);
  return (
    <Card
      title="Projects and workspaces"
      actions={
        <TextLink to="/$organization/teams/access" params={{ organization }}>
          Give access in the table of all teams
        </TextLink>
      }
    >
      {isDenied(query.error) ? (
        <Text size="sm" c="dimmed">
          To see this, you need a team that may read all projects or all workspaces of the organization.
        </Text>
      ) : (
        <PagedList
          query={query}
          what="team"
          empty={<Text size="sm">The team has no access to single projects or workspaces.</Text>}
        >
          {(rows) => (
            <AccessTable organization={organization} team={team} rows={rows} onOpen={({ id }) => setOpened(id)} />
          )}
        </PagedList>
      )}
      <div>
        <TextLink to="/$organization/teams/why" params={{ organization }} search={{ team: team.id }}>
          Why can this team do something?
        </TextLink>
      </div>
      {row && (
        <AccessDialog
          organization={organization}
          row={row}
          team={team}
          sources={listAccessSources(row, team, owners)}
          onClose={() => setOpened(null)}
        />
      )}
    </Card>
  );
};

const TeamAccess = (props: TeamProps) => {
  const isOwnersTeam = useIsOwnersTeam(props);
  if (isOwnersTeam === undefined) return null;
  return (
    <Stack>
      <ResourceAccess {...props} />
      {isOwnersTeam ? <OwnersCard /> : <RightsCard {...props} />}
    </Stack>
  );
};

/** The rights and the access of a team. */
export const TeamAccessScreen = () => {
  const team = useShownTeam();
  return team && <TeamAccess {...team} />;
};
