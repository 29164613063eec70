import { Badge, Code, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission } from '../../api/organizations.js';
import { policiesQuery, type ConsolePolicy } from '../../api/policies.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { RunIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { PagedList } from '../../components/paged-list.js';
import { NO_POLICY_CHANGE } from '../../components/policy-words.js';
import { EmptyState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';
import { formatName } from '../../components/words.js';

const loadDialogs = () => import('./policy-dialogs.js');
const CreatePolicyDialog = lazyComponent(loadDialogs, 'CreatePolicyDialog');
const ChangePolicyDialog = lazyComponent(loadDialogs, 'ChangePolicyDialog');
const DeletePolicyDialog = lazyComponent(loadDialogs, 'DeletePolicyDialog');

type OpenDialog =
  { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly policy: ConsolePolicy } | null;

const COLUMNS: readonly DataColumn<ConsolePolicy>[] = [
  {
    header: 'Name',
    cell: ({ attributes }) => (
      <>
        {attributes.name}
        {attributes.description !== '' && (
          <Text size="xs" c="dimmed">
            {attributes.description}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Query', cell: ({ attributes }) => <Code>{attributes.query}</Code> },
  { header: 'Enforcement', cell: ({ attributes }) => formatName(attributes['enforcement-level']) },
  {
    header: 'Text',
    cell: ({ attributes }) =>
      attributes['updated-at'] === null ? (
        <Badge color="yellow" fw={600} px={6} lts={0} miw="max-content">
          No text
        </Badge>
      ) : (
        <Time value={attributes['updated-at']} />
      ),
  },
  { header: 'In', cell: ({ attributes }) => formatCount(attributes['policy-set-count'], 'policy set') },
];

type TableProps = {
  readonly policies: readonly ConsolePolicy[];
  /** Why the person may not change the policies, if so. */
  readonly refusal: string | undefined;
  readonly onOpen: (dialog: OpenDialog) => void;
};

const PolicyTable = ({ policies, refusal, onOpen }: TableProps) => (
  <DataTable
    label="Policies"
    rows={policies}
    columns={COLUMNS}
    actions={(policy) => ({
      name: policy.attributes.name,
      actions: [
        { action: 'Change', refusal, onClick: () => onOpen({ kind: 'change', policy }) },
        { action: 'Delete', isDangerous: true, refusal, onClick: () => onOpen({ kind: 'delete', policy }) },
      ],
    })}
  />
);

const NoPolicy = () => (
  <EmptyState icon={RunIcon} title="There is no policy yet">
    <Text>A policy is a rule in Rego that plans must pass, such as &quot;no public bucket&quot;.</Text>
  </EmptyState>
);

type DialogsProps = { readonly organization: string; readonly open: OpenDialog; readonly onClose: () => void };

const PolicyDialogs = ({ open, ...common }: DialogsProps) => {
  if (open === null) return null;
  if (open.kind === 'create') return <CreatePolicyDialog {...common} />;
  const Dialog = open.kind === 'change' ? ChangePolicyDialog : DeletePolicyDialog;
  return <Dialog {...common} policy={open.policy} />;
};

/** The rules about plans. Policy sets choose the workspaces. */
export const PoliciesScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/policies' });
  const [open, setOpen] = useState<OpenDialog>(null);
  const query = useInfiniteQuery(policiesQuery(organization));
  const canChange = usePermission(organization, 'can-manage-policies');
  return (
    <Page
      title="Policies"
      description="Rules in Rego, which the Open Policy Agent evaluates after each plan."
      actions={
        <CreateButton
          label="New policy"
          isPermitted={canChange}
          reason={NO_POLICY_CHANGE}
          onClick={() => setOpen({ kind: 'create' })}
        />
      }
    >
      <Text size="sm" mb="sm">
        A policy has an effect in{' '}
        <TextLink to="/$organization/settings/policy-sets" params={{ organization }} underline="always">
          policy sets
        </TextLink>
        , which apply it to workspaces.
      </Text>
      <PagedList query={query} what="organization" empty={<NoPolicy />}>
        {(policies) => (
          <PolicyTable
            policies={policies}
            refusal={canChange === false ? NO_POLICY_CHANGE : undefined}
            onOpen={setOpen}
          />
        )}
      </PagedList>
      <PolicyDialogs organization={organization} open={open} onClose={() => setOpen(null)} />
    </Page>
  );
};
