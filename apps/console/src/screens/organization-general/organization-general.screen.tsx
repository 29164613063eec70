import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationQuery } from '../../api/organizations.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { LoadingLines, QueryState } from '../../components/states.js';

const loading = <LoadingLines count={8} height={36} />;
const GeneralCards = lazyComponent(() => import('./general-cards.js'), 'GeneralCards', loading);

/** The settings of the organization itself. */
export const OrganizationGeneralScreen = () => {
  const { organization } = useParams({ from: '/$organization/settings/general' });
  const query = useQuery(organizationQuery(organization));
  return (
    <Page title="General">
      <QueryState query={query} what="organization" loading={loading}>
        {(data) => (
          <Stack>
            <GeneralCards organization={data} />
          </Stack>
        )}
      </QueryState>
    </Page>
  );
};
