import { Alert, Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ipAllowlistQuery, type IpAllowlist } from '../../api/ip-allowlist.js';
import { CreateButton } from '../../components/create-button.js';
import { UserIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { AgentLists } from './agent-lists.js';
import { isEnabled, RangeTable } from './range-table.js';

const AddRangeDialog = lazyComponent(() => import('./range-dialogs.js'), 'AddRangeDialog');

/** What the list does now, and the address that must stay in it. */
const Effect = ({ ranges, address }: IpAllowlist) => {
  const restricts = ranges.some(isEnabled);
  return (
    <Alert color={restricts ? 'green' : 'gray'} variant="light" role="status" mb="md">
      <Text size="sm">
        {restricts
          ? 'The organization accepts requests only from the enabled ranges. Lists of their own restrict agents and their runs.'
          : 'The organization accepts requests from every address.'}
      </Text>
      <Text size="sm">
        Your address, as the server sees it: <Code>{address ?? 'unknown'}</Code>
      </Text>
    </Alert>
  );
};

type AddProps = { readonly organization: string; readonly allowlist: IpAllowlist; readonly onClose: () => void };

/** The first range begins with the person's own address, because a list without it is refused. */
const AddRange = ({ allowlist: { id, ranges, address }, ...common }: AddProps) => {
  const isFirst = !ranges.some(isEnabled);
  const intro = `With the first range, the organization refuses all other addresses, from the next request. The range must contain your own address${address === null ? '' : `, ${address}`}.`;
  return (
    <AddRangeDialog
      {...common}
      list={id}
      suggested={isFirst ? (address ?? '') : ''}
      intro={isFirst && <Text size="sm">{intro}</Text>}
    />
  );
};

/** The addresses from which an organization accepts requests of people. */
export const IpAllowlistScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/ip-allowlist' });
  const [isAdding, setAdding] = useState(false);
  const query = useQuery(ipAllowlistQuery(organization));
  return (
    <Page
      title="IP allowlist"
      description="Members, tokens and pipelines at other addresses cannot see or change anything of the organization."
      actions={
        <CreateButton label="Add a range" isPermitted={query.data ? true : undefined} onClick={() => setAdding(true)} />
      }
    >
      <QueryState query={query} what="organization" loading={<LoadingLines count={4} height={36} />}>
        {(allowlist) => (
          <>
            <Effect {...allowlist} />
            {allowlist.ranges.length === 0 ? (
              <EmptyState icon={UserIcon} title="No range is listed">
                <Text>
                  Add the ranges of your offices and your VPN. Begin with the range that contains your address.
                </Text>
              </EmptyState>
            ) : (
              <RangeTable
                organization={organization}
                label="Ranges"
                ranges={allowlist.ranges}
                restricts="organization"
              />
            )}
            <AgentLists organization={organization} lists={allowlist.agentLists} />
          </>
        )}
      </QueryState>
      {isAdding && query.data && (
        <AddRange organization={organization} allowlist={query.data} onClose={() => setAdding(false)} />
      )}
    </Page>
  );
};
