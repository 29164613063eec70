import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lastChangesQuery } from '../../api/home.js';
import { NoWorkspace } from '../../components/no-workspace.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { FailedRunsCard } from './failed-runs-card.js';
import { HomeCharts } from './home-charts.js';
import { EndingKeysCard, EndingTokensCard } from './ending-cards.js';
import { LastChangesCard, LocksCard, WaitingRunsCard } from './home-cards.js';
import { ProjectsCard } from './projects-card.js';
import { SiteCard } from './site-card.js';

/** The news of an organization, as far as the person may see them. */
export const HomeScreen = () => {
  const { organization } = useParams({ from: '/$organization/' });
  const query = useQuery(lastChangesQuery(organization));
  return (
    <Page title={organization}>
      <QueryState query={query} what="organization" loading={<LoadingLines count={6} height={28} />}>
        {({ total }) =>
          total === 0 ? (
            <>
              <NoWorkspace organization={organization} />
              <ProjectsCard organization={organization} />
            </>
          ) : (
            <Stack>
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <WaitingRunsCard organization={organization} />
                <FailedRunsCard organization={organization} />
              </SimpleGrid>
              <HomeCharts organization={organization} />
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <LocksCard organization={organization} />
                <LastChangesCard organization={organization} />
                <ProjectsCard organization={organization} />
                <EndingTokensCard organization={organization} />
                <EndingKeysCard organization={organization} />
                <SiteCard />
              </SimpleGrid>
            </Stack>
          )
        }
      </QueryState>
    </Page>
  );
};
