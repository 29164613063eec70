import { Badge, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { isDenied } from '../../api/api-error.js';
import type { Project } from '../../api/projects.js';
import { projectVariableSetsQuery, type VariableSet } from '../../api/variable-sets.js';
import { Card } from '../../components/card.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { PagedList } from '../../components/paged-list.js';
import { LoadingLines } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';

const explainReach = ({ attributes, relationships }: VariableSet): string => {
  if (relationships.parent.data.type === 'projects') return 'The project owns it';
  return attributes.global ? 'It applies to the whole organization' : 'It is applied to this project';
};

const listColumns = (organization: string): readonly DataColumn<VariableSet>[] => [
  {
    header: 'Name',
    cell: ({ id, attributes: { name, priority } }) => (
      <Group gap={6}>
        <TextLink to="/$organization/settings/variable-sets/$set" params={{ organization, set: id }}>
          {name}
        </TextLink>
        {priority && (
          <Badge color="blue" miw="max-content">
            Priority
          </Badge>
        )}
      </Group>
    ),
  },
  { header: 'Variables', align: 'right', cell: ({ attributes }) => attributes['var-count'].toLocaleString() },
  { header: 'Why', cell: explainReach },
];

type VariableSetsCardProps = { readonly organization: string; readonly project: Project };

/** The variable sets that apply to all workspaces of the project. */
export const VariableSetsCard = ({ organization, project }: VariableSetsCardProps) => {
  const query = useInfiniteQuery(projectVariableSetsQuery(organization, project.id));
  if (isDenied(query.error)) {
    return (
      <Card title="Variable sets">
        <Text size="sm">You need a team that may read the variable sets of this project to see them.</Text>
      </Card>
    );
  }
  return (
    <Card title="Variable sets">
      <PagedList
        query={query}
        what="project"
        loading={<LoadingLines count={2} height={24} />}
        empty={<Text size="sm">No variable set that you may read applies to the project.</Text>}
      >
        {(sets) => <DataTable label="Variable sets" rows={sets} columns={listColumns(organization)} isInCard />}
      </PagedList>
    </Card>
  );
};
