import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { usePermission } from '../../api/organizations.js';
import { projectsQuery, type Project } from '../../api/projects.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { formatCount } from '../../components/counts.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { SearchField } from '../../components/search-field.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import classes from '../../components/table-frame.module.css';

const CreateProjectDialog = lazyComponent(() => import('../home/create-project-dialog.js'), 'CreateProjectDialog');

const FROM = '/$organization/projects';
const NO_CREATION = 'You need a team that may manage projects, or to be an owner of the organization.';

const listColumns = (organization: string): readonly DataColumn<Project>[] => [
  {
    header: 'Name',
    cell: ({ id, attributes: { name, ...counts } }) => (
      <>
        <Link to="/$organization/projects/$project" params={{ organization, project: id }} className={classes['name']}>
          {name}
        </Link>
        <NarrowLine>{formatCount(counts['workspace-count'], 'workspace')}</NarrowLine>
      </>
    ),
  },
  {
    header: 'Description',
    isWide: true,
    cell: ({ attributes: { description } }) => (description ? <LongText text={description} /> : '–'),
  },
  {
    header: 'Workspaces',
    isWide: true,
    align: 'right',
    cell: ({ attributes }) => attributes['workspace-count'].toLocaleString(),
  },
  {
    header: 'Teams with access',
    isWide: true,
    align: 'right',
    cell: ({ attributes }) => attributes['team-count'].toLocaleString(),
  },
  { header: 'Created', isWide: true, cell: ({ attributes }) => <Time value={attributes['created-at']} /> },
];

const NoProject = ({ name }: { readonly name: string }) => (
  <EmptyState icon={WorkspaceIcon} title={name === '' ? 'You may read no project' : 'No project matches'}>
    <Text>
      {name === ''
        ? 'Ask an owner of the organization to give one of your teams access to a project.'
        : 'Change the text above. Names of projects are searched regardless of case.'}
    </Text>
  </EmptyState>
);

/** The projects of an organization. */
export const ProjectsScreen = () => {
  const { organization } = useParams({ from: FROM });
  const { name = '' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const [isCreating, dialog] = useDisclosure(false);
  const query = useInfiniteQuery(projectsQuery(organization, name));
  return (
    <Page
      title="Projects"
      description="A project holds workspaces that the same people work on."
      actions={
        <CreateButton
          label="New project"
          isPermitted={usePermission(organization, 'can-create-project')}
          reason={NO_CREATION}
          onClick={dialog.open}
        />
      }
    >
      <SearchField
        label="Search projects by name"
        text={name}
        onText={(text) => void navigate({ search: text === '' ? {} : { name: text }, replace: true })}
      />
      <PagedList query={query} what="organization" empty={<NoProject name={name} />}>
        {(projects) => <DataTable label="Projects" rows={projects} columns={listColumns(organization)} isLinked />}
      </PagedList>
      {isCreating && <CreateProjectDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};
