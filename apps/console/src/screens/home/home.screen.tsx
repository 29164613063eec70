import { SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lastChangesQuery } from '../../api/home.js';
import { CodeBlock } from '../../components/copy.js';
import { WorkspaceIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { EmptyState, LoadingLines, QueryState } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { EndingKeysCard, EndingTokensCard } from './ending-cards.js';
import { LastChangesCard, LocksCard, WaitingRunsCard } from './home-cards.js';
import { SiteCard } from './site-card.js';

const NoWorkspace = ({ organization }: { readonly organization: string }) => (
  <EmptyState icon={WorkspaceIcon} title="There is no workspace yet">
    <Text>Add this block to a Terraform configuration, and initialize it. Terraform creates the workspace.</Text>
    <TerraformBlock organization={organization} workspace="hello" />
    <CodeBlock code="terraform init" label="the command" />
  </EmptyState>
);

/** What happens in an organization, as far as the person may see it. */
export const HomeScreen = () => {
  const { organization } = useParams({ from: '/$organization/' });
  const query = useQuery(lastChangesQuery(organization));
  return (
    <Page title={organization}>
      <QueryState query={query} what="organization" loading={<LoadingLines count={6} height={28} />}>
        {({ total }) =>
          total === 0 ? (
            <NoWorkspace organization={organization} />
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <WaitingRunsCard organization={organization} />
              <LocksCard organization={organization} />
              <LastChangesCard organization={organization} />
              <EndingTokensCard organization={organization} />
              <EndingKeysCard organization={organization} />
              <SiteCard />
            </SimpleGrid>
          )
        }
      </QueryState>
    </Page>
  );
};
