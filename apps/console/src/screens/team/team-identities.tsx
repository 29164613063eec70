import { Badge, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  useChangeWorkloadIdentity,
  workloadIdentitiesQuery,
  type WorkloadIdentity,
} from '../../api/workload-identities.js';
import { Card } from '../../components/card.js';
import { CreateButton } from '../../components/create-button.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LongText } from '../../components/long-text.js';
import { PagedList } from '../../components/paged-list.js';
import { FormProblems } from '../../components/problems.js';
import type { TeamProps } from './shown-team.js';

const loadDialogs = () => import('./identity-dialogs.js');
const IdentityDialog = lazyComponent(loadDialogs, 'IdentityDialog');
const DisableIdentityDialog = lazyComponent(loadDialogs, 'DisableIdentityDialog');
const DeleteIdentityDialog = lazyComponent(loadDialogs, 'DeleteIdentityDialog');
const UseIdentityDialog = lazyComponent(loadDialogs, 'UseIdentityDialog');

type OpenDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'change' | 'disable' | 'delete' | 'use'; readonly identity: WorkloadIdentity }
  | null;

/** `repository: acme/app, ref: refs/heads/main`. */
const describeClaims = ({ attributes }: WorkloadIdentity): string =>
  Object.entries(attributes.claims)
    .map(([name, values]) => `${name}: ${values.join(' or ')}`)
    .join(', ');

const COLUMNS: readonly DataColumn<WorkloadIdentity>[] = [
  {
    header: 'Name',
    cell: ({ attributes }) => (
      <Group gap="xs">
        {attributes.name}
        {!attributes.enabled && <Badge color="gray">Disabled</Badge>}
      </Group>
    ),
  },
  { header: 'Issuer', cell: ({ attributes }) => URL.parse(attributes.issuer)?.host ?? attributes.issuer },
  { header: 'Claims', cell: (identity) => <LongText text={describeClaims(identity)} /> },
  { header: 'Minutes', align: 'right', isWide: true, cell: ({ attributes }) => attributes['token-minutes'] },
];

type TableProps = {
  readonly organization: string;
  readonly identities: readonly WorkloadIdentity[];
  readonly onOpen: (dialog: OpenDialog) => void;
};

const IdentityTable = ({ organization, identities, onOpen }: TableProps) => {
  const change = useChangeWorkloadIdentity(organization);
  const toSwitch = (identity: WorkloadIdentity) =>
    identity.attributes.enabled
      ? { action: 'Disable', onClick: () => onOpen({ kind: 'disable', identity }) }
      : { action: 'Enable', onClick: () => change.mutate({ id: identity.id, attributes: { enabled: true } }) };
  return (
    <>
      <FormProblems error={change.error} />
      <DataTable
        label="Workload identities"
        rows={identities}
        columns={COLUMNS}
        isInCard
        actions={(identity) => ({
          name: identity.attributes.name,
          actions: [
            { action: 'Use', onClick: () => onOpen({ kind: 'use', identity }) },
            { action: 'Change', onClick: () => onOpen({ kind: 'change', identity }) },
            toSwitch(identity),
            { action: 'Delete', isDangerous: true, onClick: () => onOpen({ kind: 'delete', identity }) },
          ],
        })}
      />
    </>
  );
};

type DialogsProps = TeamProps & { readonly open: OpenDialog; readonly onOpen: (dialog: OpenDialog) => void };

const IdentityDialogs = ({ organization, team, open, onOpen }: DialogsProps) => {
  if (open === null) return null;
  const common = { organization, onClose: () => onOpen(null) };
  switch (open.kind) {
    case 'use':
      return <UseIdentityDialog {...common} identity={open.identity} />;
    case 'disable':
      return <DisableIdentityDialog {...common} identity={open.identity} />;
    case 'delete':
      return <DeleteIdentityDialog {...common} identity={open.identity} />;
    case 'create':
    case 'change':
      return (
        <IdentityDialog
          {...common}
          team={team.id}
          identity={open.kind === 'create' ? null : open.identity}
          onCreated={(identity) => onOpen({ kind: 'use', identity })}
        />
      );
  }
};

type CardProps = TeamProps & {
  /** The right that a person without the permission needs. */
  readonly reason: string;
};

/** The pipelines that get tokens of the team without a stored secret. */
export const TeamIdentities = ({ organization, team, reason }: CardProps) => {
  const canManage = team.attributes.permissions['can-update-api-token'];
  const query = useInfiniteQuery({ ...workloadIdentitiesQuery(organization, team.id), enabled: canManage });
  const [open, setOpen] = useState<OpenDialog>(null);
  return (
    <Card
      title="Workload identities"
      actions={
        <CreateButton
          label="New workload identity"
          size="xs"
          variant="default"
          isPermitted={canManage}
          reason={reason}
          onClick={() => setOpen({ kind: 'create' })}
        />
      }
    >
      {canManage ? (
        <PagedList
          query={query}
          what="team"
          empty={
            <Text size="sm">
              There is none yet. With one, jobs of GitHub Actions, GitLab CI and others get tokens of the team without a
              secret.
            </Text>
          }
        >
          {(identities) => <IdentityTable organization={organization} identities={identities} onOpen={setOpen} />}
        </PagedList>
      ) : (
        <Text size="sm" c="dimmed">
          You may not see the workload identities of this team. {reason}
        </Text>
      )}
      <IdentityDialogs organization={organization} team={team} open={open} onOpen={setOpen} />
    </Card>
  );
};
