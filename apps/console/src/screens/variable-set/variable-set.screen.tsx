import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { usePermission } from '../../api/organizations.js';
import { variableSetQuery, type VariableSetDocument } from '../../api/variable-sets.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { TargetsCard } from './targets-card.js';
import { VariablesCard } from './variables-card.js';

const SetSettings = lazyComponent(
  () => import('./set-settings.js'),
  'SetSettings',
  <LoadingLines count={5} height={36} />,
);

type CardsProps = { readonly organization: string; readonly document: VariableSetDocument };

const Cards = ({ organization, document }: CardsProps) => {
  const isManager = usePermission(organization, 'can-manage-varsets') ?? false;
  // Teams with access to the project can change its sets. The server decides when they try.
  const canChange = isManager || document.data.relationships.parent.data.type === 'projects';
  const card = { organization, document, canChange };
  return (
    <Stack>
      <VariablesCard {...card} />
      <TargetsCard {...card} />
      <SetSettings {...card} />
    </Stack>
  );
};

/** A variable set: its variables, and the workspaces that get them. */
export const VariableSetScreen = () => {
  const { organization, set: id } = useParams({ from: '/$organization/settings/variable-sets/$set' });
  const query = useQuery(variableSetQuery(organization, id));
  const attributes = query.data?.data.attributes;
  return (
    <Page title={attributes?.name ?? 'Variable set'} description={attributes?.description}>
      <QueryState query={query} what="variable set" loading={<LoadingLines count={8} height={36} />}>
        {(document) => <Cards organization={organization} document={document} />}
      </QueryState>
    </Page>
  );
};
