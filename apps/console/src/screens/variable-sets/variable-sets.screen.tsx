import { Badge, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { usePermission } from '../../api/organizations.js';
import { variableSetsQuery, type VariableSet } from '../../api/variable-sets.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, NarrowLine, type DataColumn } from '../../components/data-table.js';
import { VariableIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { EmptyState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { describeTargets, NO_SET_CHANGE } from './variable-set-words.js';
import classes from '../../components/table-frame.module.css';

const CreateVariableSetDialog = lazyComponent(
  () => import('./create-variable-set-dialog.js'),
  'CreateVariableSetDialog',
);

const listColumns = (organization: string): readonly DataColumn<VariableSet>[] => [
  {
    header: 'Name',
    cell: (set) => (
      <>
        <Group gap={6}>
          <Link
            to="/$organization/settings/variable-sets/$set"
            params={{ organization, set: set.id }}
            className={classes['name']}
          >
            {set.attributes.name}
          </Link>
          {set.attributes.priority && (
            <Badge color="blue" miw="max-content">
              Priority
            </Badge>
          )}
        </Group>
        <NarrowLine>{describeTargets(set)}</NarrowLine>
      </>
    ),
  },
  { header: 'Applies to', isWide: true, cell: describeTargets },
  { header: 'Variables', align: 'right', cell: ({ attributes }) => attributes['var-count'].toLocaleString() },
  { header: 'Changed', isWide: true, cell: ({ attributes }) => <Time value={attributes['updated-at']} /> },
];

const NoSet = () => (
  <EmptyState icon={VariableIcon} title="There is no variable set">
    <Text>A set gives the same variables to many workspaces: to those that you choose, to projects, or to all.</Text>
  </EmptyState>
);

/** The variable sets of an organization. */
export const VariableSetsScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/variable-sets' });
  const [isCreating, dialog] = useDisclosure(false);
  const query = useInfiniteQuery(variableSetsQuery(organization));
  return (
    <Page
      title="Variable sets"
      description="A set gives the same variables to many workspaces."
      actions={
        <CreateButton
          label="New variable set"
          isPermitted={usePermission(organization, 'can-manage-varsets')}
          reason={NO_SET_CHANGE}
          onClick={dialog.open}
        />
      }
    >
      <PagedList query={query} what="organization" empty={<NoSet />}>
        {(sets) => <DataTable label="Variable sets" rows={sets} columns={listColumns(organization)} isLinked />}
      </PagedList>
      {isCreating && <CreateVariableSetDialog organization={organization} onClose={dialog.close} />}
    </Page>
  );
};
