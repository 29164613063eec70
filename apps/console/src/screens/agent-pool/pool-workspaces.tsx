import { Code, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { organizationQuery } from '../../api/organizations.js';
import { useResourceNames } from '../../api/resource-names.js';
import { Card } from '../../components/card.js';
import { TextLink } from '../../components/text-link.js';
import type { PoolProps } from './pool-rights.js';

type UserProps = { readonly organization: string; readonly id: string; readonly workspace: string | undefined };

/** People who manage pools see the ids of workspaces that they may not read. */
const UserName = ({ organization, id, workspace }: UserProps) =>
  workspace === undefined ? (
    <Code>{id}</Code>
  ) : (
    <TextLink to="/$organization/workspaces/$workspace" params={{ organization, workspace }}>
      {workspace}
    </TextLink>
  );

/** The workspaces that use the pool, and whether it is the default of the organization. */
export const PoolWorkspaces = ({ organization, pool }: PoolProps) => {
  const ids = pool.relationships.workspaces.data.map(({ id }) => id);
  const names = useResourceNames(organization, [ids]);
  const { data } = useQuery(organizationQuery(organization));
  const isDefault = data?.relationships['default-agent-pool']?.data?.id === pool.id;
  return (
    <Card title={`Used by (${ids.length.toLocaleString()})`}>
      {isDefault && <Text size="sm">It is the default pool of the organization.</Text>}
      {ids.length === 0 ? (
        <Text size="sm">No workspace that you may see uses this pool.</Text>
      ) : (
        <Group gap="md">
          {ids.map((id) => (
            <UserName key={id} organization={organization} id={id} workspace={names.get(id)} />
          ))}
        </Group>
      )}
    </Card>
  );
};
