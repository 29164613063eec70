import { Badge, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission } from '../../api/organizations.js';
import { policySetsQuery, type ConsolePolicySet } from '../../api/policy-sets.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { describePolicyScope, NO_POLICY_CHANGE } from '../../components/policy-words.js';
import { EmptyState } from '../../components/states.js';

const loadDialogs = () => import('./policy-set-dialogs.js');
const CreatePolicySetDialog = lazyComponent(loadDialogs, 'CreatePolicySetDialog');
const ChangePolicySetDialog = lazyComponent(loadDialogs, 'ChangePolicySetDialog');
const DeletePolicySetDialog = lazyComponent(loadDialogs, 'DeletePolicySetDialog');

type OpenDialog =
  { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly set: ConsolePolicySet } | null;

const COLUMNS: readonly DataColumn<ConsolePolicySet>[] = [
  {
    header: 'Name',
    cell: ({ attributes }) => (
      <>
        {attributes.name}{' '}
        {attributes.overridable && (
          <Badge color="gray" fw={600} px={6} lts={0} miw="max-content">
            Overridable
          </Badge>
        )}
        {attributes.description !== '' && (
          <Text size="xs" c="dimmed">
            {attributes.description}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Applies to', cell: describePolicyScope },
  { header: 'Has', cell: ({ attributes }) => formatCount(attributes['policy-count'], 'policy', 'policies') },
  { header: 'OPA', cell: ({ attributes }) => attributes['policy-tool-version'] },
];

type TableProps = {
  readonly sets: readonly ConsolePolicySet[];
  /** Why the person may not change the policy sets, if so. */
  readonly refusal: string | undefined;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const PolicySetTable = ({ sets, refusal, onOpen }: TableProps) => (
  <DataTable
    label="Policy sets"
    rows={sets}
    columns={COLUMNS}
    actions={(set) => ({
      name: set.attributes.name,
      actions: [
        { action: 'Change', refusal, onClick: () => onOpen({ kind: 'change', set }) },
        { action: 'Delete', isDangerous: true, refusal, onClick: () => onOpen({ kind: 'delete', set }) },
      ],
    })}
  />
);

const NoPolicySet = () => (
  <EmptyState icon={RunIcon} title="There is no policy set yet">
    <Text>A policy set applies policies to the plans of workspaces that you choose, or of all.</Text>
  </EmptyState>
);

type DialogsProps = { readonly organization: string; readonly open: OpenDialog; readonly onClose: () => void };

const PolicySetDialogs = ({ open, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'create') return <CreatePolicySetDialog {...common} />;
  const Dialog = open.kind === 'change' ? ChangePolicySetDialog : DeletePolicySetDialog;
  return <Dialog {...common} set={open.set} />;
};

/** The policies that the plans of workspaces must pass. */
export const PolicySetsScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/policy-sets' });
  const [open, setOpen] = useState<OpenDialog>(null);
  const query = useInfiniteQuery(policySetsQuery(organization));
  const canChange = usePermission(organization, 'can-manage-policies');
  return (
    <Page
      title="Policy sets"
      description="A policy set applies policies to the plans of workspaces."
      actions={
        <CreateButton
          label="New policy set"
          isPermitted={canChange}
          reason={NO_POLICY_CHANGE}
          onClick={() => setOpen({ kind: 'create' })}
        />
      }
    >
      <PagedList query={query} what="organization" empty={<NoPolicySet />}>
        {(sets) => (
          <PolicySetTable sets={sets} refusal={canChange === false ? NO_POLICY_CHANGE : undefined} onOpen={setOpen} />
        )}
      </PagedList>
      <PolicySetDialogs organization={organization} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
};
