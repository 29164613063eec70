import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { agentRangesQuery } from '../../api/ip-allowlist-changes.js';
import type { AgentList } from '../../api/ip-allowlist.js';
import { useResourceNames } from '../../api/resource-names.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { RowActions } from '../../components/row-actions.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { isEnabled, RangeTable } from './range-table.js';

const loadDialogs = () => import('./agent-list-dialogs.js');
const CreateListDialog = lazyComponent(loadDialogs, 'CreateListDialog');
const EditListDialog = lazyComponent(loadDialogs, 'EditListDialog');
const DeleteListDialog = lazyComponent(loadDialogs, 'DeleteListDialog');
const AddRangeDialog = lazyComponent(() => import('./range-dialogs.js'), 'AddRangeDialog');

type ListProps = { readonly organization: string; readonly list: AgentList };

/** The pools whose agents the list restricts, and whether it does. */
const useRestriction = ({ organization, list }: ListProps, hasRange: boolean): string => {
  const pools = list.relationships['agent-pools'].data.map(({ id }) => id);
  const names = useResourceNames(organization, [pools]);
  if (!hasRange) return 'Has no enabled range, so it restricts no agent.';
  if (list.attributes['enforcement-scope'] === 'all_agent_pools')
    return 'Restricts the agents of all pools of the organization.';
  if (pools.length === 0) return 'Is for no pool, so it restricts no agent.';
  return `Restricts the agents of: ${pools.map((id) => names.get(id) ?? id).join(', ')}.`;
};

const FIRST_RANGE =
  'With the first range, agents at all other addresses are refused, from the next request, unless another list for them has the address.';

const AgentListCard = (props: ListProps) => {
  const { organization, list } = props;
  const { name } = list.attributes;
  const [dialog, setDialog] = useState<'range' | 'edit' | 'delete' | null>(null);
  const query = useQuery(agentRangesQuery(organization, list.id));
  const hasRange = query.data?.some(isEnabled) ?? false;
  const restriction = useRestriction(props, hasRange);
  const common = { organization, list, onClose: () => setDialog(null) };
  const actions = [
    { action: 'Add a range', onClick: () => setDialog('range') },
    { action: 'Edit', onClick: () => setDialog('edit') },
    { action: 'Delete', isDangerous: true, onClick: () => setDialog('delete') },
  ];
  return (
    <Card title={name} actions={<RowActions name={name} actions={actions} />}>
      <QueryState query={query} what="list" loading={<LoadingLines count={2} height={28} />}>
        {(ranges) => (
          <>
            <Text size="sm">{restriction}</Text>
            {ranges.length > 0 && (
              <RangeTable organization={organization} label={`Ranges of ${name}`} ranges={ranges} restricts="agents" />
            )}
          </>
        )}
      </QueryState>
      {dialog === 'range' && (
        <AddRangeDialog
          organization={organization}
          list={list.id}
          suggested=""
          intro={!hasRange && <Text size="sm">{FIRST_RANGE}</Text>}
          onClose={common.onClose}
        />
      )}
      {dialog === 'edit' && <EditListDialog {...common} />}
      {dialog === 'delete' && <DeleteListDialog {...common} />}
    </Card>
  );
};

/** The addresses from which an organization accepts requests of agents: any number of lists. */
export const AgentLists = ({ organization, lists }: { organization: string; lists: readonly AgentList[] }) => {
  const [isCreating, setCreating] = useState(false);
  return (
    <Stack mt="md">
      <Card
        title="Lists for agents"
        actions={
          <CreateButton
            size="compact-sm"
            variant="default"
            label="Create a list for agents"
            isPermitted
            onClick={() => setCreating(true)}
          />
        }
      >
        <Text size="sm" c="dimmed">
          {lists.length === 0
            ? 'Agents and their runs may send requests from every address.'
            : 'An agent may send requests from the ranges of the lists for its pool.'}
        </Text>
      </Card>
      {lists.map((list) => (
        <AgentListCard key={list.id} organization={organization} list={list} />
      ))}
      {isCreating && <CreateListDialog organization={organization} onClose={() => setCreating(false)} />}
    </Stack>
  );
};
